// A person's prompt: cells are edited as blocks and run as they are entered. Lives on the console's
// loop, so output of background tasks appears while one types, and keys typed while a cell runs
// wait for the next prompt.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "host/console/call_printer.h"
#include "host/console/console.h"
#include "host/repl/editor.h"
#include "host/repl/history_file.h"
#include "host/repl/raw_terminal.h"

namespace cellar::host {

class Prompt : private EditorListener, private CellObserver {
 public:
  // `session_name` is whose history it is.
  Prompt(Console& console, const std::string& session_name);
  Prompt(const Prompt&) = delete;

  // Until Ctrl-D or exit(); returns the program's exit code.
  int Run();

 private:
  void OnEntered(std::string text) override;
  void OnEndOfInput(bool has_text) override;
  void OnTab(std::string text, size_t cursor) override;
  // What tasks of earlier cells print while no cell runs.
  void OnBackgroundText(Stream stream, std::string_view text) override;

  void Show();
  void OnKeys();
  void OnKeysWhileRunning(std::string_view keys);
  void OnInterrupt();
  void Stop();
  // Takes the next key: yes for `y`.
  void Ask(const std::string& question, std::function<void()> on_yes);
  void RunCell(std::string source);
  void OnOutcome(absl::StatusOr<CellOutcome> outcome);
  void Leave(int exit_code);

  Console& console_;
  CallPrinter printer_;
  const bool can_paint_;
  RawTerminal terminal_;
  Editor editor_;
  HistoryFile history_;
  std::function<void()> on_yes_;  // of a question that is being asked
  std::string background_;        // a line of background output that is not complete
  uint32_t next_count_ = 1;
  bool leaving_ = false;
  int exit_code_ = 0;
};

}  // namespace cellar::host
