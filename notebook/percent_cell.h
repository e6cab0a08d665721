// One cell of a py:percent script: its `# %%` line with options, and its lines.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "notebook/cell.h"
#include "notebook/document.h"

namespace cellar::notebook {

// The member of a cell's metadata that has the times of its last run. Scripts do not hold it.
inline constexpr std::string_view kExecutionKey = "execution";

struct PercentCell {
  CellType type = CellType::kCode;
  std::string source;
  std::string metadata = "{}";  // a JSON object
  // The other members of the cell but outputs and count, with JSON values.
  std::vector<std::pair<std::string, std::string>> members;
};

// Without their ends; there is none after the last newline.
std::vector<std::string_view> LinesOf(std::string_view text);

PercentCell CellForPercent(const Document& document, size_t cell);
// Ends with a newline.
std::string WritePercentCell(const PercentCell& cell);
// Reads all cells behind the header.
std::vector<PercentCell> ReadPercentCells(const std::vector<std::string_view>& lines);

}  // namespace cellar::notebook
