// What a cell is called and which members it has in the two layouts of notebook files. Knows no
// file and no text.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace cellar::notebook {

enum class CellType : uint8_t { kCode, kMarkdown, kRaw };

// "code", "markdown" or "raw".
std::string_view CellTypeName(CellType type);
// The type shown for a file's `cell_type`. nbformat 3 has headings and html besides; both are shown
// as markdown.
std::optional<CellType> CellTypeFromName(std::string_view name);

// kFlat: nbformat 4, cells at the top. kWorksheets: nbformat 2 and 3, cells inside worksheets.
enum class Layout : uint8_t { kFlat, kWorksheets };

std::string_view SourceKey(Layout layout, CellType type);
std::string_view CountKey(Layout layout);

}  // namespace cellar::notebook
