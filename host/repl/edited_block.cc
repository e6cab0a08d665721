#include "host/repl/edited_block.h"

#include <readline/readline.h>

#include <algorithm>
#include <string>

#include "host/console/text_width.h"
#include "host/repl/indentation.h"

namespace cellar::host {
namespace {

// Where the line that the cursor is in begins and ends.
int LineStart(int point) {
  const size_t newline = point == 0 ? std::string_view::npos
                                    : EditedText().rfind('\n', static_cast<size_t>(point) - 1);
  return newline == std::string_view::npos ? 0 : static_cast<int>(newline) + 1;
}
int LineEnd(int point) {
  return static_cast<int>(
      std::min(EditedText().find('\n', static_cast<size_t>(point)), EditedText().size()));
}

std::string_view Part(int start, int end) {
  return EditedText().substr(static_cast<size_t>(start), static_cast<size_t>(end - start));
}

// To the same column of the line that begins at `start`.
void MoveToLine(int start) {
  const int columns = Columns(Part(LineStart(rl_point), rl_point));
  const std::string_view line = Part(start, LineEnd(start));
  rl_point = start + static_cast<int>(CutToColumns(line, columns).size());
}

}  // namespace

std::string_view EditedText() {
  return std::string_view(rl_line_buffer, static_cast<size_t>(rl_end));
}

bool InIndentation() {
  return Part(LineStart(rl_point), rl_point).find_first_not_of(" \t") == std::string_view::npos;
}

bool MoveUp() {
  const int start = LineStart(rl_point);
  if (start == 0) return false;
  MoveToLine(LineStart(start - 1));
  return true;
}

bool MoveDown() {
  const int end = LineEnd(rl_point);
  if (end == rl_end) return false;
  MoveToLine(end + 1);
  return true;
}

void MoveToStart() { rl_point = rl_point == LineStart(rl_point) ? 0 : LineStart(rl_point); }

void MoveToEnd() { rl_point = rl_point == LineEnd(rl_point) ? rl_end : LineEnd(rl_point); }

void KillToStart() {
  const int start = LineStart(rl_point);
  rl_kill_text(rl_point, start);
  rl_point = start;
}

void KillToEnd() {
  const int end = LineEnd(rl_point);
  rl_kill_text(rl_point, end == rl_point ? std::min(end + 1, rl_end) : end);
}

void BreakLine() { rl_insert_text(("\n" + NextIndent(Part(0, rl_point))).c_str()); }

void Indent() {
  const size_t column = static_cast<size_t>(rl_point - LineStart(rl_point));
  rl_insert_text(std::string(kIndent - column % kIndent, ' ').c_str());
}

void Outdent() {
  const int start = LineStart(rl_point);
  int end = start;
  while (end < rl_end && end - start < static_cast<int>(kIndent) && rl_line_buffer[end] == ' ') {
    ++end;
  }
  rl_delete_text(start, end);
  rl_point = std::max(start, rl_point - (end - start));
}

bool RuboutIndentation() {
  const int column = rl_point - LineStart(rl_point);
  if (column == 0 || !InIndentation() || rl_line_buffer[rl_point - 1] != ' ') return false;
  const int step = (column - 1) % static_cast<int>(kIndent) + 1;
  int from = rl_point;
  while (rl_point - from < step && rl_line_buffer[from - 1] == ' ') --from;
  rl_delete_text(from, rl_point);
  rl_point = from;
  return true;
}

}  // namespace cellar::host
