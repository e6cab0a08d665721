// Single-cell edits, as a tool offers them: edit, insert, delete, each with what it did to tell
// afterwards.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "notebook/cell.h"
#include "notebook/document.h"

namespace cellar::notebook {

// What was done. After a delete, `type`, `id` and `source` are those of the cell removed.
struct ActionDetails {
  std::string action;  // "edit", "insert" or "delete"
  size_t index = 0;
  CellType type = CellType::kCode;
  std::optional<std::string> id;
  size_t total = 0;  // cells after the action
  std::string source;
  bool outputs_cleared = false;
};

struct ActionResult {
  Document document;
  ActionDetails details;
};

struct EditOptions {
  std::optional<CellType> type;
  bool keep_outputs = false;
};

// The index is checked against the notebook; every result is parsed again and compared before it is
// returned.
absl::StatusOr<ActionResult> EditCell(const Document& document, size_t index,
                                      const std::string& source, const EditOptions& options = {});
// `index` is what the new cell's index will be: 0 to cell_count().
absl::StatusOr<ActionResult> InsertCell(const Document& document, size_t index, CellType type,
                                        const std::string& source);
absl::StatusOr<ActionResult> DeleteCell(const Document& document, size_t index);

// "Edited code cell 3; the notebook has 12 cells"
std::string Summary(const ActionDetails& details);
// {"action": "edit", "index": 3, "type": "code", "id": "…", "total": 12, "source": "…"}, on one
// line.
std::string DetailsJson(const ActionDetails& details);

}  // namespace cellar::notebook
