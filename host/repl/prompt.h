// A person's prompt: cells are edited as blocks and run as they are entered. Lives on the console's
// loop, so output of background tasks appears while one types, and keys typed while a cell runs
// wait for the next prompt.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/console/call_printer.h"
#include "host/console/console.h"
#include "host/repl/cell_log.h"
#include "host/repl/completer.h"
#include "host/repl/editor.h"
#include "host/repl/history_file.h"
#include "host/repl/input_desk.h"
#include "host/repl/raw_terminal.h"

namespace cellar::host {

class Prompt : private EditorListener, private CellObserver {
 public:
  // `desk` is what the console's session has for a bridge; `session_name` is whose history it is.
  Prompt(Console& console, InputDesk& desk, const std::string& session_name);
  ~Prompt() override;
  Prompt(const Prompt&) = delete;

  // Until Ctrl-D or exit(); returns the program's exit code.
  int Run();

 private:
  void OnEntered(std::string text) override;
  void OnEndOfInput(bool has_text) override;
  void OnTab(std::string text, size_t cursor) override;
  void OnText(Stream stream, std::string_view text) override;
  void OnDisplay(const wire::Display& display) override;
  void OnBackgroundText(Stream stream, std::string_view text) override;

  Session& session();
  void Show();
  void OnKeys();
  void OnKeysWhileRunning(std::string_view keys);
  void OnInterrupt();
  void OnInputAsked();
  void Stop();
  // Takes the next key: yes for `y`.
  void Ask(const std::string& question, std::function<void()> on_yes);
  void Say(const std::string& text);
  void RunNext();
  void OnOutcome(absl::StatusOr<CellOutcome> outcome);
  void Leave(int exit_code);

  // The commands, each with what stands behind its name; they end with Show(), now or later.
  struct Command;
  static const std::vector<Command>& Commands();
  void RunCommand(std::string_view line);
  void Help(const std::string&);
  void Reset(const std::string&);
  void Save(const std::string& path);
  void Load(const std::string& path);
  void ShowSource(std::string_view source);
  void Expand(const std::string&);
  void Quit(const std::string&);
  void Undo(const std::string&);
  void Rewind(const std::string& cell);
  void RewindTo(std::optional<uint32_t> cell);
  void Branch(const std::string& name);
  void Switch(const std::string& name);
  void Sessions(const std::string&);

  Console& console_;
  InputDesk& desk_;
  CallPrinter printer_;
  const bool can_paint_;
  RawTerminal terminal_;
  Editor editor_;
  Completer completer_;
  HistoryFile history_;
  bool keeps_history_ = true;
  CellLog log_;
  // Branches of the console's session, which has no name here, by name.
  std::map<std::string, std::unique_ptr<Session>> branches_;
  std::string current_;              // the name of the session that cells run in
  std::deque<std::string> sources_;  // of cells that are to run
  bool is_loading_ = false;          // and they come from a file
  bool is_asking_ = false;           // the editor is open for a cell's input()
  std::function<void()> on_yes_;     // of a question that is being asked
  std::string background_;           // a line of background output that is not complete
  bool leaving_ = false;
  int exit_code_ = 0;
};

}  // namespace cellar::host
