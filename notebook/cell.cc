#include "notebook/cell.h"

namespace cellar::notebook {

std::string_view CellTypeName(CellType type) {
  switch (type) {
    case CellType::kCode:
      return "code";
    case CellType::kMarkdown:
      return "markdown";
    case CellType::kRaw:
      return "raw";
  }
  return "";
}

std::optional<CellType> CellTypeFromName(std::string_view name) {
  if (name == "code") return CellType::kCode;
  if (name == "markdown" || name == "heading" || name == "html") return CellType::kMarkdown;
  if (name == "raw") return CellType::kRaw;
  return std::nullopt;
}

std::string_view SourceKey(Layout layout, CellType type) {
  return layout == Layout::kWorksheets && type == CellType::kCode ? "input" : "source";
}

std::string_view CountKey(Layout layout) {
  return layout == Layout::kWorksheets ? "prompt_number" : "execution_count";
}

}  // namespace cellar::notebook
