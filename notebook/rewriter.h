// Makes the bytes of a notebook with some cells changed, added, moved or dropped, out of the bytes
// it has. Bytes outside what was asked for stay as they are. Does not check its own work: who asks
// for a change parses the result and compares.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "notebook/cell_writer.h"
#include "notebook/document.h"
#include "notebook/list_rewriter.h"
#include "notebook/style.h"

namespace cellar::notebook {

// Call Keep, Change and Add in the order of the result, then Finish once. Cells not named are
// dropped. `document` must outlive the rewriter.
class Rewriter {
 public:
  explicit Rewriter(const Document& document);

  void Keep(size_t cell);
  void Change(size_t cell, const CellChange& change);
  // Adds a fresh id where the format has ids and the cell brings none.
  void Add(NewCell cell);
  // The bytes of the whole file. Fails if a cell was added to a notebook that has no list of cells.
  absl::StatusOr<std::string> Finish();

 private:
  void Write(size_t cell, std::string_view text);
  void StartList(size_t list);
  void FinishList();
  std::string FreshId(const NewCell& cell);

  const Document& document_;
  const std::string& bytes_;
  const Style style_;
  std::string out_;
  size_t list_index_ = 0;
  std::optional<ListRewriter> list_;
  bool has_nowhere_to_add_ = false;
  size_t written_ = 0;
  std::optional<std::unordered_set<std::string>> used_ids_;
};

}  // namespace cellar::notebook
