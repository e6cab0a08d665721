// A notebook as a py:percent script, the form jupytext and VS Code read, and back. Everything but
// outputs and counts is in the script: what has no place in the plain form stands in options behind
// the cell's `# %%`.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "notebook/apply.h"
#include "notebook/document.h"

namespace cellar::notebook {

// The script is read back before it is returned; fails with the cell's number if the cell came out
// different.
absl::StatusOr<std::string> ToPercent(const Document& document);

// A new notebook; nbformat 4.5 if the script does not say.
absl::StatusOr<Document> FromPercent(std::string_view script);

// `document` with its cells as in the script. A cell of the script is an old one if it has its id,
// or else its type and source; old cells keep what a script does not hold, above all outputs.
absl::StatusOr<Applied> ApplyPercent(const Document& document, std::string_view script,
                                     const ApplyOptions& options);

}  // namespace cellar::notebook
