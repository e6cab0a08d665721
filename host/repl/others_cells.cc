#include "host/repl/others_cells.h"

#include <unistd.h>

#include <utility>

#include "host/base/fds.h"
#include "host/repl/highlight.h"

namespace cellar::host {

OthersCells::OthersCells(Place place)
    : place_(std::move(place)), lines_([this](Stream stream, std::string_view text) {
        place_.editor.Suspend();
        place_.printer.OnText(stream, text);
        place_.editor.Resume();
      }) {}

void OthersCells::OnCellStarted(size_t, const CallCell& cell) {
  lines_.End();
  place_.editor.Suspend();
  if (call_.is_nested) {
    place_.printer.EndLine();
    place_.printer.Note(call_.by + " runs a cell inside this one:");
  } else {
    place_.log().Begin(cell.code);
    place_.printer.BeginAside();
    place_.printer.Note(call_.by + " runs cell " + std::to_string(place_.next_cell()) + ":");
  }
  WriteAll(STDOUT_FILENO, ShownSource(cell.code) + "\n");
  place_.editor.Resume();
}

void OthersCells::OnText(Stream stream, std::string_view text) {
  if (!call_.is_nested) place_.log().recorder().AddText(stream, text);
  lines_.Add(stream, text);
}

void OthersCells::OnDisplay(const wire::Display& display) {
  if (!call_.is_nested) place_.log().recorder().AddDisplay(display);
  if (display.kind != wire::DisplayKind::kStatus) lines_.End();
  place_.editor.Suspend();
  place_.printer.OnDisplay(display);
  place_.editor.Resume();
}

void OthersCells::OnCellFinished(size_t, const CellResult& result) {
  lines_.End();
  if (!call_.is_nested) place_.log().End(result.outcome);
  place_.editor.Suspend();
  place_.printer.EndAside(result);
  place_.printer.EndLine();
  place_.editor.Resume();
}

}  // namespace cellar::host
