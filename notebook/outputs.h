// What becomes of outputs when a cell changes, and notebooks without them.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "notebook/cell_writer.h"
#include "notebook/document.h"

namespace cellar::notebook {

// Whether the cell has outputs that go with the change.
bool LosesOutputs(const Document& document, size_t cell, const CellChange& change);

// The notebook with no outputs and no execution counts. Cells that have neither keep their bytes.
absl::StatusOr<Document> ClearOutputs(const Document& document);

}  // namespace cellar::notebook
