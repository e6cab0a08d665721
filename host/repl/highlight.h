// The colours of Python source on a terminal.
#pragma once

#include <string>
#include <string_view>

#include "host/repl/python_tokens.h"

namespace cellar::host {

// The escape sequence that begins a token's colour; kReset ends it. From the sixteen colours that a
// terminal's own theme defines.
std::string_view ColourOf(TokenKind kind);

// The whole source, coloured.
std::string Highlight(std::string_view source);
// As it is shown on standard output: printable, and coloured where colours are wanted.
std::string ShownSource(std::string_view source);

}  // namespace cellar::host
