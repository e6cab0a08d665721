// The cells that others run on the prompt's session: shows whose they are, their source and what
// they print, in whole lines above what is being typed, and keeps them in the log. Those that run
// inside another are part of that one: they are not in the log.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "host/console/call_printer.h"
#include "host/eval/session_watcher.h"
#include "host/repl/cell_log.h"
#include "host/repl/editor.h"
#include "host/repl/whole_lines.h"

namespace cellar::host {

class OthersCells : public CallObserver {
 public:
  struct Place {
    CallPrinter& printer;
    Editor& editor;
    std::function<CellLog&()> log;        // of the session
    std::function<uint32_t()> next_cell;  // of the session
  };

  explicit OthersCells(Place place);

  // Whose the cell is that is told of.
  void set_call(const WatchedCall& call) { call_ = call; }

  void OnCellStarted(size_t index, const CallCell& cell) override;
  void OnText(Stream stream, std::string_view text) override;
  void OnBackgroundText(Stream stream, std::string_view text) override { OnText(stream, text); }
  void OnBackgroundDisplay(const wire::Display& display) override { OnDisplay(display); }
  void OnDisplay(const wire::Display& display) override;
  void OnCellFinished(size_t index, const CellResult& result) override;

 private:
  Place place_;
  WatchedCall call_;
  WholeLines lines_;
};

}  // namespace cellar::host
