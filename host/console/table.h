// Rows of text in columns.
#pragma once

#include <string>
#include <vector>

namespace cellar::host {

// Prints a line for each row on standard output, columns as wide as the widest text in them. The
// texts are printable (see Printable).
void PrintTable(const std::vector<std::vector<std::string>>& rows);

}  // namespace cellar::host
