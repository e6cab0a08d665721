// How many columns characters take on a terminal, and text cut to fit. Needs a UTF-8 LC_CTYPE (see
// UseUtf8).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cellar::host {

// Sets LC_CTYPE as the user's environment says, or to plain UTF-8 where that is something else:
// everything here is UTF-8, and so is every terminal in use.
void UseUtf8();

struct Glyph {
  size_t bytes = 0;        // of the text that it stands for; at least 1
  int columns = 0;         // 0 for a combining mark
  std::string_view shown;  // what to write: the character itself, "^C" for a control character
};

// The first character of a text that is not empty. What a terminal cannot show, or would obey, is
// shown as U+FFFD, and so are invalid bytes, one by one.
Glyph FirstGlyph(std::string_view text);

// Of text without newlines or escape sequences.
int Columns(std::string_view text);

// As much of the start of `text` as fits into `columns`.
std::string_view CutToColumns(std::string_view text, int columns);

// The same as text to show, with an ellipsis if that is not all. `text` has no control characters
// (see Sanitiser); a tab becomes a space.
std::string CutToWidth(std::string_view text, size_t columns);

}  // namespace cellar::host
