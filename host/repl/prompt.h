// A person's prompt: cells are edited as blocks and run as they are entered. Lives on the
// foreground's loop, so what background tasks and others print appears while one types, and keys
// typed while a cell runs wait for the next prompt.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "host/console/call_printer.h"
#include "host/console/foreground.h"
#include "host/output/artifacts.h"
#include "host/repl/cell_log.h"
#include "host/repl/completer.h"
#include "host/repl/editor.h"
#include "host/repl/history_file.h"
#include "host/repl/input_desk.h"
#include "host/repl/others_cells.h"
#include "host/repl/prompt_session.h"
#include "host/repl/question.h"
#include "host/repl/raw_terminal.h"
#include "host/repl/source_answer.h"
#include "host/repl/terminal_question.h"
#include "host/repl/whole_lines.h"

namespace cellar::host {

class Prompt : private EditorListener, private PromptSessionListener {
 public:
  // What it borrows outlives it. `desk` is where the session's cells ask for input; `images` is
  // where those are saved that the terminal cannot show.
  Prompt(Foreground& foreground, PromptSession& session, InputDesk& desk,
         const ArtifactStore& images);
  ~Prompt() override;
  Prompt(const Prompt&) = delete;

  // Until Ctrl-D or exit(); returns the program's exit code.
  int Run();

 private:
  void OnEntered(std::string text) override;
  void OnEndOfInput(bool has_text) override;
  void OnTab(std::string text, size_t cursor) override;
  void OnCellStarted(size_t index, const CallCell& cell) override;
  void OnText(Stream stream, std::string_view text) override;
  void OnDisplay(const wire::Display& display) override;
  void OnBackgroundText(Stream stream, std::string_view text) override;
  void OnBackgroundDisplay(const wire::Display& display) override;
  void OnCellFinished(size_t index, const CellResult& result) override;
  CallObserver& Others(const WatchedCall& call) override;
  void OnChange(SessionChange change) override;
  void OnMoved() override;
  void OnWaitsForDaemon() override;
  void OnLost() override;

  CellLog& log() { return logs_[session_.name()]; }
  std::string prompt() const;
  static std::string ContinuationOf(const std::string& prompt);
  // That of the session it is at.
  void LoadHistory();
  void Greet() const;
  void Show();
  // Whether it shows images, if that is not known.
  void AskTerminal();
  void OnKeys();
  void TakeKeys(std::string_view keys);
  void OnKeysWhileRunning(std::string_view keys);
  void OnInterrupt();
  void OnResize();
  void OnInputAsked();
  void Stop();
  // Asks before a command does something, unless the question is empty.
  void Confirm(const std::function<std::string()>& question, const std::function<void()>& act);
  void Say(const std::string& text);
  void RunNext();
  void OnDone(const absl::Status& status);
  void Leave(int exit_code);

  // The commands, each with what stands behind its name; they end with Show(), now or later.
  struct Command;
  static const std::vector<Command>& Commands();
  void RunCommand(std::string_view line);
  // `before`: of the line, up to the cursor.
  void CompleteCommand(std::string_view before);
  void Help(const std::string&);
  void Reset(const std::string&);
  void Save(const std::string& file);
  void WriteTo(const std::string& path);
  void Load(const std::string& file);
  void ShowSource(std::string_view source);
  void Expand(const std::string&);
  void Quit(const std::string&);
  void Undo(const std::string&);
  void Rewind(const std::string& cell);
  void RewindTo(uint32_t cell);
  void UndoFirstCell();
  // Whether what others have run may be taken back; or nothing, where it is one's own.
  std::string QuestionOfRewind(uint32_t cell) const;
  // Of a command that the session does between cells.
  void SayWhatItWaitsFor();
  void Branch(const std::string& name);
  void Switch(const std::string& name);
  void Sessions(const std::string&);

  Foreground& foreground_;
  PromptSession& session_;
  InputDesk& desk_;
  CallPrinter printer_;
  const bool can_paint_;
  RawTerminal terminal_;
  TerminalQuestion terminal_question_;
  Editor editor_;
  Question question_;
  SourceAnswer answer_;
  Completer completer_;
  HistoryFile history_;
  bool keeps_history_ = true;
  std::map<std::string, CellLog> logs_;     // by the session's name
  std::map<std::string, FileStamp> saved_;  // what :save has written, by path
  WholeLines background_;
  OthersCells others_;
  std::string source_;               // of the own cell under way
  std::deque<std::string> sources_;  // of cells that are to run
  bool is_loading_ = false;          // and they come from a file
  bool is_asking_ = false;           // the editor is open for a cell's input()
  bool leaving_ = false;
  int exit_code_ = 0;
};

}  // namespace cellar::host
