// The text of one cell: a new one, or an old one with parts of it changed. Knows nothing of the
// cells around it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "notebook/cell.h"
#include "notebook/document.h"
#include "notebook/style.h"

namespace cellar::notebook {

struct CellChange {
  std::optional<CellType> type;
  std::optional<std::string> source;
  bool clear_outputs = false;
  bool clear_count = false;
  // JSON values that take the place of these members, or are added where a cell has none.
  std::optional<std::string> metadata;
  std::optional<std::string> outputs;
  std::optional<std::string> count;
};

struct NewCell {
  CellType type = CellType::kCode;
  std::string source;
  // Members by key with JSON values, in place of or beside the ones every cell of this type has.
  std::vector<std::pair<std::string, std::string>> members;
};

std::string WriteNewCell(const NewCell& cell, Layout layout, const Style& style);
std::string WriteChangedCell(const Document& document, size_t cell, const CellChange& change,
                             const Style& style);

}  // namespace cellar::notebook
