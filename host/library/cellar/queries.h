// What prompts and editors ask of a session: what could stand here, what is this, is this a whole
// cell.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cellar {

struct Completion {
  std::string text;
  std::string type;  // function, class, module, instance, property, keyword, param, key, path…
  std::string signature;  // of what can be called, where it is known
};

// To be put in the place of the characters from `start` to `end` (code points, not bytes).
struct Completions {
  std::vector<Completion> matches;
  size_t start = 0;
  size_t end = 0;
};

// Empty where something is not known.
struct Inspection {
  bool found = false;
  std::string name;
  std::string type;
  std::string kind;  // function, class, module, property or instance
  std::string signature;
  std::string docstring;
  std::string value;   // of numbers and strings
  std::string source;  // when it was asked for
};

enum class CellForm { kComplete, kIncomplete, kInvalid };

struct Completeness {
  CellForm form = CellForm::kComplete;
  std::string indent;  // with which the next line of an incomplete cell should begin
};

}  // namespace cellar
