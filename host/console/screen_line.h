// One line of a terminal: how wide the terminal is, and text cut to fit.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cellar::host {

// In pixels; a guess where the terminal does not say.
size_t TerminalPixelWidth(int fd);

// The beginning of `text` that takes at most `columns`, with an ellipsis if that is not all. `text`
// has no control characters (see Sanitiser); a tab becomes a space. Needs UseUtf8().
std::string CutToWidth(std::string_view text, size_t columns);

}  // namespace cellar::host
