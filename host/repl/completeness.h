// Whether the lines typed so far are a whole cell. A guess from the text alone, as every prompt
// makes it: the worker has the last word.
#pragma once

#include <string_view>

namespace cellar::host {

// True while a bracket, a triple-quoted string or a continued line is open, and inside a block or
// the cell of a `%%magic` until a blank line.
bool NeedsMoreLines(std::string_view source);

}  // namespace cellar::host
