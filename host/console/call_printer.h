// Shows a call to a person: output as it is written, results, errors, and what became of the state.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "host/console/terminal.h"
#include "host/eval/call_runner.h"

namespace cellar::host {

class CallPrinter : public CallObserver {
 public:
  // `on_reader_gone` is called once, when standard output can no longer be written.
  explicit CallPrinter(std::function<void()> on_reader_gone);

  void OnText(Stream stream, std::string_view text) override;
  void OnBackgroundText(Stream stream, std::string_view text) override { OnText(stream, text); }
  void OnDisplay(const wire::Display& display) override;
  void OnCellFinished(size_t index, const CellResult& result) override;

  // The next thing written starts a line.
  void EndLine();

 private:
  struct Side {
    int fd;
    bool is_terminal;
    bool has_colour;
    bool at_line_start = true;
    TerminalFilter filter;
  };

  void Print(Side& side, std::string_view text);
  void Write(Side& side, std::string_view text);
  // On a line of its own.
  void PrintLine(Side& side, std::string_view text, std::string_view colour = {});

  Side out_;
  Side err_;
  std::function<void()> on_reader_gone_;
};

}  // namespace cellar::host
