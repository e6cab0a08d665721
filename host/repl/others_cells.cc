#include "host/repl/others_cells.h"

#include <unistd.h>

#include <utility>

#include "host/base/fds.h"
#include "host/console/terminal.h"
#include "host/output/printable.h"
#include "host/repl/highlight.h"

namespace cellar::host {
namespace {

// Of a line that has no end, before it is shown in pieces.
constexpr size_t kMaxLineBytes = size_t{64} << 10;

}  // namespace

void OthersCells::OnCellStarted(size_t, const CallCell& cell) {
  EndLine();
  place_.editor.Suspend();
  if (call_.is_nested) {
    place_.printer.EndLine();
    place_.printer.Note(call_.by + " runs a cell inside this one:");
  } else {
    place_.log().Begin(cell.code);
    place_.printer.BeginAside();
    place_.printer.Note(call_.by + " runs cell " + std::to_string(place_.next_cell()) + ":");
  }
  std::string source = Printable(cell.code);
  if (WantsColour(STDOUT_FILENO)) source = Highlight(source);
  WriteAll(STDOUT_FILENO, source + "\n");
  place_.editor.Resume();
}

// Whole lines only: the rest of one would stand behind the prompt.
void OthersCells::OnText(Stream stream, std::string_view text) {
  if (!call_.is_nested) place_.log().recorder().AddText(stream, text);
  if (stream != line_stream_) EndLine();
  line_stream_ = stream;
  line_ += text;
  size_t end = line_.rfind('\n') + 1;
  if (end == 0 && line_.size() > kMaxLineBytes) end = line_.size();
  if (end > 0) Print(stream, line_.substr(0, end));
  line_.erase(0, end);
}

void OthersCells::EndLine() {
  if (!line_.empty()) Print(line_stream_, std::exchange(line_, "") + "\n");
}

void OthersCells::Print(Stream stream, std::string_view text) {
  place_.editor.Suspend();
  place_.printer.OnText(stream, text);
  place_.editor.Resume();
}

void OthersCells::OnDisplay(const wire::Display& display) {
  if (!call_.is_nested) place_.log().recorder().AddDisplay(display);
  if (display.kind != wire::DisplayKind::kStatus) EndLine();
  place_.editor.Suspend();
  place_.printer.OnDisplay(display);
  place_.editor.Resume();
}

void OthersCells::OnCellFinished(size_t, const CellResult& result) {
  EndLine();
  if (!call_.is_nested) place_.log().End(result.outcome);
  place_.editor.Suspend();
  place_.printer.EndAside(result);
  place_.printer.EndLine();
  place_.editor.Resume();
}

}  // namespace cellar::host
