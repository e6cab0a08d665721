// The outputs of a cell as readable comment lines for the text view. Shows, never stores: nothing
// here comes back.
#pragma once

#include <cstddef>
#include <string>

#include "notebook/document.h"

namespace cellar::notebook {

// Appends the `# %% [outputs] cell:N` block of a cell; nothing if it has no outputs.
void AppendOutputs(const Document& document, size_t cell, std::string* out);

}  // namespace cellar::notebook
