// Whether cells have outputs, and notebooks without them.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "notebook/document.h"

namespace cellar::notebook {

bool HasOutputs(const Document& document, size_t cell);

// The notebook with no outputs and no execution counts. Cells that have neither keep their bytes.
absl::StatusOr<Document> ClearOutputs(const Document& document);

}  // namespace cellar::notebook
