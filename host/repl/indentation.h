// How far in the next line of a cell begins.
#pragma once

#include <string>
#include <string_view>

namespace cellar::host {

inline constexpr size_t kIndent = 4;

// The white space that a new line after `text`, whose last line is being left, begins with: that of
// the last line, one step more after a colon or an open bracket, one less after what ends a block.
std::string NextIndent(std::string_view text);

}  // namespace cellar::host
