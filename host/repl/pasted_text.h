// What a paste puts into a cell: the text without what a prompt or an editor had put around it.
#pragma once

#include <string>
#include <string_view>

namespace cellar::host {

// Newlines are `\n`. The prompts of Python (`>>> `, `... `), IPython (`In [1]: `, `   ...: `) and
// this program are taken off where the first line has one, and the lines without one, which are
// output, go; indentation that all lines share goes, as do blank lines around the text.
std::string CleanPaste(std::string_view pasted);

}  // namespace cellar::host
