// A forward cursor over JSON text that checks the grammar and reports where values lie, never what
// they mean. Builds no tree, copies nothing, and accepts what Python writes beyond the standard
// (NaN, Infinity).
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "notebook/span.h"

namespace cellar::notebook {

// Containers nested deeper than this are refused; Python's own reader gives up at about the same
// depth.
inline constexpr int kMaxJsonDepth = 1000;

// Walk a known shape with the Enter/Next pairs, and everything else with SkipValue:
//
//   scanner.EnterObject();
//   while (scanner.NextMember(&key)) scanner.SkipValue(&value);
//   if (scanner.failed()) ...
//
// After a failure every function returns false and the cursor stays where the text went wrong.
class JsonScanner {
 public:
  // `text` must outlive the scanner and be at most kMaxNotebookBytes long. `depth` is how many
  // containers the text will stand in.
  explicit JsonScanner(std::string_view text, size_t offset = 0, int depth = 0)
      : text_(text), pos_(offset), depth_(depth) {}

  // The first character of the value ahead, or 0 at the end of the text.
  char Peek() {
    SkipWhitespace();
    return pos_ < text_.size() ? text_[pos_] : '\0';
  }
  bool EnterObject();
  // True: `key` is the quoted key and the cursor stands at its value. False: the object ended, or a
  // failure.
  bool NextMember(Span* key);
  bool EnterArray();
  // True: the cursor stands at an item. False: the array ended, or a failure.
  bool NextItem();
  bool SkipValue(Span* value);
  // Over a value of that size that is known to be well formed.
  void SkipKnown(size_t size) { pos_ += size; }
  // Nothing but whitespace may be left.
  bool ExpectEnd();

  size_t offset() const { return pos_; }
  bool failed() const { return failure_ != nullptr; }
  // What was expected at offset(); a literal.
  const char* failure() const { return failure_; }

 private:
  bool Fail(const char* expected);
  void SkipWhitespace() {
    if (pos_ < text_.size() && static_cast<unsigned char>(text_[pos_]) <= ' ') SkipWhitespaceRun();
  }
  void SkipWhitespaceRun();
  bool Enter(char open, const char* expected);
  bool Next(char close, const char* expected);
  bool SkipContainer();
  bool SkipKey();
  bool SkipColon();
  bool SkipString();
  bool SkipScalar();
  bool SkipNumber();
  bool SkipDigits();

  std::string_view text_;
  size_t pos_;
  int depth_;
  bool just_entered_ = false;
  const char* failure_ = nullptr;
};

struct Member {
  Span key;  // with its quotes
  Span value;
};

// The parts of a container that was scanned before, hence known to be well formed.
std::vector<Member> Members(std::string_view text, Span object);
std::vector<Span> Items(std::string_view text, Span array);

}  // namespace cellar::notebook
