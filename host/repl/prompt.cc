#include "host/repl/prompt.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <utility>

#include "host/base/fds.h"
#include "host/console/complain.h"
#include "host/console/exit_codes.h"
#include "host/console/terminal.h"
#include "host/console/text_width.h"

namespace cellar::host {
namespace {

constexpr char kCtrlD = 0x04;
constexpr char kCtrlZ = 0x1A;

}  // namespace

Prompt::Prompt(Console& console, InputDesk& desk, const std::string& session_name)
    : console_(console),
      desk_(desk),
      printer_([this] { Leave(kExitFine); }, {.loop = &console.loop(),
                                              .images = &console.artifacts(),
                                              .lines = 20,
                                              .hint = ":expand shows all"}),
      can_paint_(MovesCursor(STDOUT_FILENO)),
      terminal_(STDIN_FILENO, can_paint_),
      editor_(*this, can_paint_, WantsColour(STDOUT_FILENO)),
      completer_(editor_),
      history_(StateDirectory(CurrentEnvironment()) + "/history", session_name) {
  desk_.set_on_change([this] { OnInputAsked(); });
}

Prompt::~Prompt() { desk_.set_on_change(nullptr); }

int Prompt::Run() {
  absl::StatusOr<std::vector<std::string>> cells = history_.Load();
  if (cells.ok()) {
    for (const std::string& cell : *cells) editor_.AddHistory(cell);
  } else {
    Complain(cells.status());
    keeps_history_ = false;
  }
  std::printf("cellar %s, Python cells. Ctrl-C interrupts, Ctrl-D leaves, :help helps.\n",
              CELLAR_VERSION);
  std::fflush(stdout);
  absl::Status status =
      console_.WatchSignals([this] { OnInterrupt(); }, [this] { editor_.OnResize(); });
  if (status.ok()) status = console_.session().Prepare();
  if (status.ok()) {
    status = console_.loop().Watch(STDIN_FILENO, EPOLLIN, [this](uint32_t) { OnKeys(); });
  }
  if (!status.ok()) {
    Complain(status);
    return kExitCannotRun;
  }
  console_.session().ObserveBackground(this);
  terminal_.Enter();
  Show();
  console_.RunLoop();
  console_.session().ObserveBackground(nullptr);
  console_.loop().Unwatch(STDIN_FILENO);
  editor_.Close();
  terminal_.Leave();
  return console_.ended_by() != 0 ? 128 + console_.ended_by() : exit_code_;
}

Session& Prompt::session() {
  auto branch = branches_.find(current_);
  return branch == branches_.end() ? console_.session() : *branch->second;
}

void Prompt::Show() {
  if (leaving_) return;
  const std::string prompt = current_ + (current_.empty() ? "" : " ") + "In [" +
                             std::to_string(session().next_cell()) + "]: ";
  const auto indent = static_cast<size_t>(std::max(0, Columns(prompt) - 5));
  editor_.Open({.prompt = prompt, .continuation = std::string(indent, ' ') + "...: "});
}

void Prompt::OnKeys() {
  std::array<char, 4096> buffer;
  const ssize_t size = read(STDIN_FILENO, buffer.data(), buffer.size());
  if (size < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (size <= 0) return Leave(kExitFine);  // the terminal is gone
  std::string_view keys(buffer.data(), static_cast<size_t>(size));
  if (on_yes_) {
    const bool yes = keys[0] == 'y' || keys[0] == 'Y';
    std::function<void()> on_yes = std::exchange(on_yes_, nullptr);
    printer_.HoldStatus(false);
    keys.remove_prefix(1);
    editor_.is_open() ? editor_.ShowBelow({}) : (void)WriteAll(STDOUT_FILENO, "\n");
    if (yes) return on_yes();
  }
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
  Ask("a cell is running; end it and leave? [y/N] ", [this] { Leave(kExitFine); });
}

// Ctrl-Z: the shell gets its terminal back as it was.
void Prompt::Stop() {
  editor_.Suspend();
  terminal_.Leave();
  kill(0, SIGTSTP);
  terminal_.Enter();
  editor_.Resume();
}

void Prompt::Ask(const std::string& question, std::function<void()> on_yes) {
  on_yes_ = std::move(on_yes);
  if (editor_.is_open()) return editor_.ShowBelow({question});
  printer_.EndLine();
  printer_.HoldStatus(true);
  WriteAll(STDOUT_FILENO, question);
}

// At the prompt it gives up what was typed; in a cell it interrupts the cell.
void Prompt::OnInterrupt() {
  on_yes_ = nullptr;
  editor_.DropKeys();
  if (session().busy()) return session().Interrupt();
  editor_.Abandon();
}

// The line that a cell has begun to print is the prompt of its input().
void Prompt::OnInputAsked() {
  if (std::exchange(is_asking_, false)) editor_.Close();
  const InputDesk::Request* request = desk_.first();
  printer_.HoldStatus(request != nullptr);
  if (request == nullptr || leaving_) return;
  is_asking_ = true;
  editor_.Open({.prompt = printer_.TakeLine(), .is_cell = false, .is_hidden = request->hidden});
}

void Prompt::OnEndOfInput(bool has_text) {
  if (is_asking_) {
    if (!has_text) desk_.Answer(std::nullopt);
    return;
  }
  if (!has_text) return Leave(kExitFine);
  Ask("leave, and drop what is typed? [y/N]", [this] { Leave(kExitFine); });
}

void Prompt::OnTab(std::string text, size_t cursor) {
  completer_.Complete(session(), std::move(text), cursor);
}

void Prompt::OnText(Stream stream, std::string_view text) {
  log_.recorder().AddText(stream, text);
  editor_.Suspend();  // another thread of the cell may be asking for input
  printer_.OnText(stream, text);
  editor_.Resume();
}

void Prompt::OnDisplay(const wire::Display& display) {
  log_.recorder().AddDisplay(display);
  editor_.Suspend();
  printer_.OnDisplay(display);
  editor_.Resume();
}

void Prompt::OnBackgroundText(Stream stream, std::string_view text) {
  // Whole lines only: the rest of one would stand behind the prompt.
  background_ += text;
  const size_t end = background_.rfind('\n');
  if (end == std::string::npos) return;
  editor_.Suspend();
  printer_.OnText(stream, background_.substr(0, end + 1));
  background_.erase(0, end + 1);
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
  log_.Begin(source);
  printer_.OnCellStarted(0, {});
  printer_.OnText(Stream::kStdout, std::exchange(background_, ""));
  session().Run({.code = std::move(source), .observer = this},
                [this](absl::StatusOr<CellOutcome> outcome) { OnOutcome(std::move(outcome)); });
}

void Prompt::OnOutcome(absl::StatusOr<CellOutcome> outcome) {
  on_yes_ = nullptr;
  if (leaving_) return;
  if (!outcome.ok()) {
    Complain(outcome.status());
    return Leave(kExitCannotRun);
  }
  if (outcome->error && outcome->error->exit_code) return Leave(*outcome->error->exit_code);
  log_.End(*outcome);
  if (!outcome->ok()) sources_.clear();
  printer_.OnCellFinished(0, {.status = CellRunStatus::kComplete, .outcome = *std::move(outcome)});
  printer_.EndLine();
  RunNext();
}

void Prompt::Leave(int exit_code) {
  if (std::exchange(leaving_, true)) return;
  exit_code_ = exit_code;
  editor_.Close();
  console_.Finish();
}

}  // namespace cellar::host
