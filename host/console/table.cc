#include "host/console/table.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>

#include "host/console/text_width.h"

namespace cellar::host {

void PrintTable(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const std::vector<std::string>& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], static_cast<size_t>(Columns(row[i])));
    }
  }
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) {
        line.append(widths[i] - static_cast<size_t>(Columns(row[i])) + 2, ' ');
      }
    }
    std::printf("%s\n", line.c_str());
  }
}

}  // namespace cellar::host
