// JSON values laid out anew: whitespace between tokens only, never the spelling of a token.
#pragma once

#include <string>
#include <string_view>

#include "notebook/style.h"

namespace cellar::notebook {

// `json` must have been scanned before. {"a": [1, 2]}
std::string OneLine(std::string_view json);
// One space for each level; `depth` is that of the value itself.
std::string Indented(std::string_view json, int depth);
// As a file of this style has it inside a cell; `level` as in GapsInCell.
std::string InStyle(std::string_view json, const Style& style, int level);

}  // namespace cellar::notebook
