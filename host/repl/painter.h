// How a cell that is being typed looks: a pure function from text, cursor and width to the rows of
// the screen. Writes nothing; BlockScreen brings the rows to the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "host/console/block_screen.h"

namespace cellar::host {

struct Typed {
  std::string_view text;
  size_t cursor = 0;              // bytes
  std::string_view prompt;        // before the first line
  std::string_view continuation;  // before the others
  // Shown under the text, cut to the width: completions, a question.
  std::vector<std::string> below;
};

// Tabs go to the next multiple of this, counted from the start of the line.
inline constexpr int kTabColumns = 4;

// A line too long for the width goes on in the next row; a wide character never stands in two.
Picture Paint(const Typed& typed, int columns, bool colour);

}  // namespace cellar::host
