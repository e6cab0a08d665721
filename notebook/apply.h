// Edited text put back into the notebook it was shown from.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "notebook/document.h"
#include "notebook/text_view.h"

namespace cellar::notebook {

struct ApplyOptions {
  // Keep the outputs of code cells whose source changed.
  bool keep_outputs = false;
};

// A line of the text that is part of a source and looks like a marker.
struct NearMarker {
  size_t line = 0;  // from 1
  std::string text;
};

struct Applied {
  std::optional<Document> document;  // none: the text changes nothing
  size_t changed = 0;
  size_t added = 0;
  size_t removed = 0;
  std::vector<size_t> cleared;           // cells of the old notebook that lost outputs
  std::vector<NearMarker> near_markers;  // that were not in the cell before
};

// A cell of the text that names an old cell, the first to do so, is that cell with its type and
// source set; any other is a new cell. Old cells that are not named are removed. The result is
// parsed again and compared with the text before it is returned. Refuses to remove all cells
// because the text is empty.
absl::StatusOr<Applied> Apply(const Document& document, const EditedText& text,
                              const ApplyOptions& options);

}  // namespace cellar::notebook
