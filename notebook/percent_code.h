// The lines of cells inside a py:percent script. Lines that Python cannot run (IPython magics,
// text) or that would start a cell are turned into comments, and back; the way back undoes the way
// there exactly, for any text.
#pragma once

#include <string>
#include <string_view>

namespace cellar::notebook {

// True for `# %%`, with anything behind it after a blank; indented too.
bool IsCellStart(std::string_view line);

// Follows triple-quoted strings from line to line; inside one, nothing is a magic and nothing
// starts a cell.
class QuoteTracker {
 public:
  void Read(std::string_view line);
  bool in_string() const { return quote_ != '\0'; }

 private:
  char quote_ = '\0';
};

// Turns the lines of one cell, given in order and without their newlines, into lines of the script
// and back.
class CodeLines {
 public:
  std::string ToScript(std::string_view line);
  std::string FromScript(std::string_view line);
  // False inside a triple-quoted string and behind a magic that goes on: no cell starts there.
  bool at_boundary() const { return !quotes_.in_string() && !continues_magic_; }

 private:
  void Read(std::string_view line);

  QuoteTracker quotes_;
  bool continues_magic_ = false;
};

// The same for a line of a markdown or raw cell, which is a comment as a whole.
std::string TextLineToScript(std::string_view line);
std::string TextLineFromScript(std::string_view line);

}  // namespace cellar::notebook
