// JSON as an indented tree whose deep parts are folded.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cellar::host {

inline constexpr int kFoldedDepth = 2;

// What is deeper than `depth` is shown as "{… 3 keys}" and "[… 5 items]". A value that fits on one
// line is on one line. Nothing when the text is not a JSON object or array.
std::optional<std::string> JsonTree(std::string_view text, int depth);

}  // namespace cellar::host
