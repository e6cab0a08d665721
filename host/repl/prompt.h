// A person's prompt: line editing and history by libedit, cells run as they are entered. Lives on
// the console's loop, so output of background tasks appears while one types.
#pragma once

#include <string>

#include "host/console/call_printer.h"
#include "host/console/console.h"

namespace cellar::host {

class Prompt {
 public:
  explicit Prompt(Console& console) : console_(console), printer_([this] { Leave(0); }) {}
  Prompt(const Prompt&) = delete;

  // Until Ctrl-D or exit(); returns the program's exit code.
  int Run();

 private:
  void Show();
  void Hide();
  // `line` is null for the end of input.
  void OnLine(const char* line);
  void OnInterrupt();
  void RunCell();
  void OnOutcome(absl::StatusOr<CellOutcome> outcome);
  void Leave(int exit_code);

  Console& console_;
  CallPrinter printer_;
  std::string source_;  // the lines of the cell being typed
  bool shown_ = false;
  bool leaving_ = false;
  int exit_code_ = 0;
};

}  // namespace cellar::host
