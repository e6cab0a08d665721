// Notebook text on its way to stdout: as it is for programs, harmless and coloured for a person's
// terminal.
#pragma once

#include <string>
#include <string_view>

#include "notebook/cell.h"

namespace cellar::host {

class NotebookTerminal {
 public:
  static NotebookTerminal OfStdout();
  NotebookTerminal(bool is_terminal, bool has_colour);

  bool is_terminal() const { return is_terminal_; }

  // The text view: markers stand out.
  std::string CellText(std::string_view text) const;
  std::string Diff(std::string_view diff) const;
  // The first lines of one cell, indented, and how many more there are.
  std::string Preview(notebook::CellType type, std::string_view source) const;
  std::string Plain(std::string_view text) const;

 private:
  std::string Line(std::string_view line, std::string_view colour) const;

  bool is_terminal_;
  bool has_colour_;
};

// That not all could be written is found out at the program's end, see ExitCodeAfterOutput().
void WriteToStdout(std::string_view text);
// Through $PAGER, or less; as it is when there is no such program.
void WriteToPager(std::string_view text);

}  // namespace cellar::host
