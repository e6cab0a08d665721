// Shows a call to a person: output as it is written, results, errors, and what became of the state.
#pragma once

#include <string>
#include <string_view>

#include "host/console/terminal.h"
#include "host/eval/call_runner.h"

namespace cellar::host {

class CallPrinter : public CallObserver {
 public:
  CallPrinter();

  void OnText(Stream stream, std::string_view text) override;
  void OnBackgroundText(Stream stream, std::string_view text) override { OnText(stream, text); }
  void OnDisplay(const wire::Display& display) override;
  void OnNotice(const std::string& notice) override;
  void OnCellFinished(size_t index, const CellResult& result) override;

  // The reader of standard output is gone.
  bool broken() const { return broken_; }

 private:
  struct Side {
    int fd;
    bool is_terminal;
    bool has_colour;
    bool at_line_start = true;
    TerminalFilter filter;
  };

  void Print(Side& side, std::string_view text);
  // On a line of its own.
  void PrintLine(Side& side, std::string_view text, std::string_view colour = {});

  Side out_;
  Side err_;
  bool broken_ = false;
};

}  // namespace cellar::host
