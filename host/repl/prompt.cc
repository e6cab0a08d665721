#include "host/repl/prompt.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <utility>

#include "absl/strings/numbers.h"
#include "host/base/fds.h"
#include "host/console/complain.h"
#include "host/console/exit_codes.h"
#include "host/console/terminal.h"
#include "host/console/text_width.h"
#include "host/output/printable.h"
#include "host/session/launch.h"

namespace cellar::host {
namespace {

constexpr char kCtrlD = 0x04;
constexpr char kCtrlZ = 0x1A;

// As Python says it: exit(5) is silent, sys.exit("why") says why.
CellResult AsLastWords(CellResult result) {
  std::optional<CellError>& error = result.outcome.error;
  int64_t number = 0;
  const bool is_number =
      absl::SimpleAtoi(error->evalue, &number) && (number & 0xFF) == *error->exit_code;
  if (error->evalue.empty() || is_number) {
    error.reset();
  } else {
    error->traceback = error->evalue;
  }
  return result;
}

HistoryFile HistoryOf(const PromptSession& session) {
  return HistoryFile(StateDirectory(CurrentEnvironment()) + "/history", session.history());
}

}  // namespace

Prompt::Prompt(Foreground& foreground, PromptSession& session, InputDesk& desk,
               const ArtifactStore& images)
    : foreground_(foreground),
      session_(session),
      desk_(desk),
      printer_([this](int) { Leave(kExitFine); }, {.loop = &foreground.loop(),
                                                   .images = &images,
                                                   .lines = 20,
                                                   .hint = ":expand shows all"}),
      can_paint_(MovesCursor(STDOUT_FILENO)),
      terminal_(STDIN_FILENO, can_paint_),
      terminal_question_(foreground.loop()),
      editor_(*this, can_paint_, WantsColour(STDOUT_FILENO)),
      question_(editor_, printer_),
      answer_(printer_),
      completer_(editor_),
      history_(HistoryOf(session)),
      background_([this](Stream stream, std::string_view text) {
        editor_.Suspend();
        printer_.OnText(stream, text);
        editor_.Resume();
      }),
      others_({.printer = printer_,
               .editor = editor_,
               .log = [this]() -> CellLog& { return log(); },
               .next_cell = [this] { return session_.next_cell(); }}) {
  desk_.set_on_change([this] { OnInputAsked(); });
}

Prompt::~Prompt() { desk_.set_on_change(nullptr); }

int Prompt::Run() {
  LoadHistory();
  Greet();
  absl::Status status = foreground_.WatchSignals([this] { OnInterrupt(); }, [this] { OnResize(); });
  if (status.ok()) {
    status = foreground_.loop().Watch(STDIN_FILENO, EPOLLIN, [this](uint32_t) { OnKeys(); });
  }
  if (!status.ok()) {
    Complain(status);
    return kExitCannotRun;
  }
  terminal_.Enter();
  AskTerminal();
  session_.Start(*this, [this](const absl::Status& started) {
    if (started.ok()) return Show();
    Complain(started);
    Leave(absl::IsCancelled(started) ? kExitInterrupted : kExitCannotRun);
  });
  foreground_.loop().Run();
  foreground_.loop().Unwatch(STDIN_FILENO);
  editor_.Close();
  background_.End();
  terminal_.Leave();
  return foreground_.exit_code() != 0 ? foreground_.exit_code() : exit_code_;
}

void Prompt::LoadHistory() {
  history_ = HistoryOf(session_);
  editor_.ClearHistory();
  absl::StatusOr<std::vector<std::string>> cells = history_.Load();
  keeps_history_ = cells.ok();
  if (!cells.ok()) return Complain(cells.status());
  for (const std::string& cell : *cells) editor_.AddHistory(cell);
}

void Prompt::Greet() const {
  if (session_.is_nameless()) {
    std::printf("cellar %s, Python cells. Ctrl-C interrupts, Ctrl-D leaves, :help helps.\n",
                CELLAR_VERSION);
  } else {
    std::printf("cellar %s, session %s of the daemon. Ctrl-D leaves it open, :help helps.\n",
                CELLAR_VERSION, Printable(session_.name()).c_str());
  }
  std::fflush(stdout);
}

std::string Prompt::prompt() const {
  return (session_.is_nameless() ? "" : Printable(session_.name()) + " ") + "In [" +
         std::to_string(session_.next_cell()) + "]: ";
}

std::string Prompt::ContinuationOf(const std::string& prompt) {
  return std::string(static_cast<size_t>(std::max(0, Columns(prompt) - 5)), ' ') + "...: ";
}

void Prompt::Show() {
  if (leaving_) return;
  editor_.Open({.prompt = prompt(), .continuation = ContinuationOf(prompt())});
}

void Prompt::AskTerminal() {
  if (!can_paint_ || printer_.images() != ImageProtocol::kNone) return;
  terminal_question_.Ask([this](std::string_view keys) { TakeKeys(keys); },
                         [this] { printer_.set_images(ImageProtocol::kSixel); });
}

void Prompt::OnKeys() {
  std::array<char, 4096> buffer;
  const ssize_t size = read(STDIN_FILENO, buffer.data(), buffer.size());
  if (size < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (size <= 0) return Leave(kExitFine);  // the terminal is gone
  TakeKeys(terminal_question_.Take({buffer.data(), static_cast<size_t>(size)}));
}

void Prompt::TakeKeys(std::string_view keys) {
  if (keys.empty()) return;
  if (question_.Take(keys)) return;
  while (!keys.empty()) {
    const size_t stop = std::min(keys.find(kCtrlZ), keys.size());
    if (editor_.is_open()) {
      editor_.Feed(keys.substr(0, stop));
    } else {
      OnKeysWhileRunning(keys.substr(0, stop));
    }
    if (stop < keys.size()) Stop();
    keys.remove_prefix(std::min(stop + 1, keys.size()));
  }
}

void Prompt::OnKeysWhileRunning(std::string_view keys) {
  const size_t end = keys.find(kCtrlD);
  editor_.Feed(keys.substr(0, end));
  if (end == std::string_view::npos) return;
  // That of another goes on.
  if (!session_.running_by().empty()) return Leave(kExitFine);
  question_.Ask("a cell is running; end it and leave? [y/N] ", [this] { Leave(kExitFine); });
}

void Prompt::OnResize() {
  printer_.OnResize();
  editor_.OnResize();
}

// Ctrl-Z: the shell gets its terminal back as it was.
void Prompt::Stop() {
  editor_.Suspend();
  terminal_.Leave();
  kill(0, SIGTSTP);
  terminal_.Enter();
  editor_.Resume();
}

// At an open prompt, where what others print meanwhile has its place. Keys that were typed before
// the question was seen are no answer to it; nor is a yes, if the question is another by then.
void Prompt::Confirm(const std::function<std::string()>& question,
                     const std::function<void()>& act) {
  const std::string asked = question();
  if (asked.empty()) return act();
  editor_.DropKeys();
  Show();
  question_.Ask(asked, [this, question, act, asked] {
    editor_.Suspend();  // off the screen
    editor_.Close();
    question() == asked ? act() : Confirm(question, act);
  });
}

// In a cell it interrupts the cell; at the prompt it gives up what was typed, and where nothing is,
// it may be meant for a cell of another.
void Prompt::OnInterrupt() {
  question_.Drop();
  editor_.DropKeys();
  if (session_.busy()) return session_.Interrupt();
  const std::string by = session_.running_by();
  if (by.empty() || !editor_.text().empty()) return editor_.Abandon();
  question_.Ask("interrupt the cell of " + Printable(by) + "? [y/N] ",
                [this] { session_.InterruptOther(); });
}

// The line that a cell has begun to print is the prompt of its input().
void Prompt::OnInputAsked() {
  if (std::exchange(is_asking_, false)) editor_.Close();
  const InputDesk::Request* request = desk_.first();
  printer_.PauseStatus(request != nullptr);
  if (request == nullptr || leaving_) return;
  question_.Drop();
  is_asking_ = true;
  editor_.Open({.prompt = printer_.TakeLine(), .is_cell = false, .is_hidden = request->hidden});
}

void Prompt::OnEndOfInput(bool has_text) {
  if (is_asking_) {
    if (!has_text) desk_.Answer(std::nullopt);
    return;
  }
  if (!has_text) return Leave(kExitFine);
  question_.Ask("leave, and drop what is typed? [y/N]", [this] { Leave(kExitFine); });
}

void Prompt::OnTab(std::string text, size_t cursor) {
  const std::string_view before = std::string_view(text).substr(0, cursor);
  if (before.starts_with(':')) return CompleteCommand(before);
  completer_.Complete(session_, std::move(text), cursor);
}

void Prompt::OnCellStarted(size_t, const CallCell& cell) {
  background_.End();
  log().Begin(source_);
  answer_.Begin(source_);
  printer_.OnCellStarted(0, cell);
}

void Prompt::OnText(Stream stream, std::string_view text) {
  log().recorder().AddText(stream, text);
  if (answer_.Take(text)) return;
  editor_.Suspend();  // another thread of the cell may be asking for input
  printer_.OnText(stream, text);
  editor_.Resume();
}

void Prompt::OnDisplay(const wire::Display& display) {
  log().recorder().AddDisplay(display);
  editor_.Suspend();
  printer_.OnDisplay(display);
  editor_.Resume();
}

void Prompt::OnBackgroundText(Stream stream, std::string_view text) {
  background_.Add(stream, text);
}

void Prompt::OnBackgroundDisplay(const wire::Display& display) {
  background_.End();
  editor_.Suspend();
  printer_.OnDisplay(display);
  editor_.Resume();
}

void Prompt::OnEntered(std::string text) {
  if (std::exchange(is_asking_, false)) return desk_.Answer(text + "\n");
  if (text.find_first_not_of(" \t\n") == std::string::npos) return Show();
  editor_.AddHistory(text);
  if (keeps_history_) {
    absl::Status status = history_.Append(text);
    if (!status.ok()) Complain(status);
    keeps_history_ = status.ok();  // said once
  }
  if (text[0] == ':') return RunCommand(text);
  sources_ = {std::move(text)};
  RunNext();
}

void Prompt::Say(const std::string& text) {
  editor_.Suspend();
  printer_.Note(text);
  editor_.Resume();
}

void Prompt::RunNext() {
  if (sources_.empty()) {
    is_loading_ = false;
    return Show();
  }
  std::string source = std::move(sources_.front());
  sources_.pop_front();
  if (is_loading_) ShowSource(source);
  if (const std::string by = session_.running_by(); !by.empty()) {
    Say("waits for the cell of " + by + "; Ctrl-C gives it up");
  }
  source_ = source;
  session_.Run(std::move(source), [this](const absl::Status& status) { OnDone(status); });
}

void Prompt::OnCellFinished(size_t, const CellResult& result) {
  question_.Drop();
  if (leaving_) return;
  const CellOutcome& outcome = result.outcome;
  const bool is_exit = outcome.error && outcome.error->exit_code;
  log().End(outcome);
  if (!outcome.ok()) sources_.clear();
  answer_.Show();
  if (is_exit) {
    printer_.OnCellFinished(0, AsLastWords(result));
  } else {
    printer_.OnCellFinished(0, result);
  }
  printer_.EndLine();
  if (is_exit) Leave(*outcome.error->exit_code);
}

void Prompt::OnDone(const absl::Status& status) {
  question_.Drop();
  if (!status.ok()) {
    sources_.clear();
    answer_.Show();
    printer_.OnCellFinished(0, {});  // it may have begun
    printer_.EndLine();
    if (!leaving_) Say(std::string(status.message()));
  }
  if (!leaving_) RunNext();
}

CallObserver& Prompt::Others(const WatchedCall& call) {
  others_.set_call(call);
  return others_;
}

void Prompt::OnChange(SessionChange change) {
  switch (change) {
    case SessionChange::kReset:
      log().Reset();
      return Say("another client has reset the session: a fresh namespace");
    case SessionChange::kRewound:
      log().Rewind(session_.next_cell());
      return Say("another client has rewound the session: the state is that of before cell " +
                 std::to_string(session_.next_cell()));
    case SessionChange::kClosed:
      log().Reset();
      return Say("the session was closed; the next cell opens it anew");
  }
}

void Prompt::OnMoved() {
  if (!is_asking_) editor_.SetPrompt(prompt(), ContinuationOf(prompt()));
}

void Prompt::OnWaitsForDaemon() { Say("waits for the daemon to start; Ctrl-C gives it up"); }

void Prompt::OnLost() {
  if (leaving_) return;
  for (auto& [name, log] : logs_) log.Reset();
  Say("the daemon is gone, and with it the state; the next cell starts anew");
  OnMoved();
}

void Prompt::Leave(int exit_code) {
  if (std::exchange(leaving_, true)) return;
  exit_code_ = exit_code;
  editor_.Close();
  session_.Leave([this] { foreground_.loop().Stop(); });
}

}  // namespace cellar::host
