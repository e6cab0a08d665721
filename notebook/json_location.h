// Where an offset lies, in words a person can follow. Used for errors only, hence simple rather
// than fast.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cellar::notebook {

// "line 33, column 1, in cells[2].metadata". Lines and columns count from 1, columns in characters.
// The text before `offset` must be well formed JSON; what follows may be anything.
std::string DescribeLocation(std::string_view text, size_t offset);

}  // namespace cellar::notebook
