// The outputs of a cell as readable comment lines for the text view. Shows, never stores: nothing
// here comes back.
#pragma once

#include <cstddef>
#include <string>

#include "notebook/document.h"

namespace cellar::notebook {

// What stands below the `# %% [outputs]` of a cell; empty if it has no outputs.
std::string OutputsText(const Document& document, size_t cell);

}  // namespace cellar::notebook
