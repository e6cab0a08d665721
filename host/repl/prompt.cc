#include "host/repl/prompt.h"

#include <editline/readline.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "host/console/complain.h"
#include "host/console/exit_codes.h"
#include "host/repl/completeness.h"

namespace cellar::host {
namespace {

constexpr int kHistoryLines = 10'000;

// libedit's callbacks carry no context, and there is one terminal.
Prompt* g_prompt = nullptr;

std::string HistoryFile(const Launch& launch) {
  // Beside the artifacts, which are in the user's state directory.
  return (std::filesystem::path(launch.artifacts_directory).parent_path() / "history").string();
}

void LoadHistory(const std::string& path) {
  using_history();
  stifle_history(kHistoryLines);
  read_history(path.c_str());
}

void SaveHistory(const std::string& path) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  mode_t mask = umask(0077);  // what was typed may be a secret
  write_history(path.c_str());
  umask(mask);
}

}  // namespace

int Prompt::Run() {
  std::string history = HistoryFile(console_.launch());
  LoadHistory(history);
  std::printf("cellar %s. Python cells; Ctrl-C interrupts, Ctrl-D leaves.\n", CELLAR_VERSION);
  absl::Status status = console_.WatchSignals([this] { OnInterrupt(); });
  if (status.ok()) status = console_.session().Prepare();
  if (status.ok()) {
    status = console_.loop().Watch(STDIN_FILENO, EPOLLIN, [this](uint32_t) {
      // While a cell runs, what is typed waits for the prompt.
      if (shown_) rl_callback_read_char();
    });
  }
  if (!status.ok()) {
    Complain(status);
    return kExitCannotRun;
  }
  g_prompt = this;
  Show();
  console_.RunLoop();
  Hide();
  SaveHistory(history);
  return console_.ended_by() != 0 ? 128 + console_.ended_by() : exit_code_;
}

void Prompt::Show() {
  if (leaving_) return;
  shown_ = true;
  rl_callback_handler_install(source_.empty() ? ">>> " : "... ", [](char* line) {
    g_prompt->OnLine(line);
    std::free(line);
  });
}

void Prompt::Hide() {
  if (!std::exchange(shown_, false)) return;
  rl_callback_handler_remove();
}

void Prompt::OnLine(const char* line) {
  Hide();
  if (line == nullptr) {
    std::printf("\n");
    return Leave(kExitFine);
  }
  source_ += line;
  source_ += '\n';
  if (NeedsMoreLines(source_)) return Show();
  if (source_.find_first_not_of(" \t\n") == std::string::npos) {
    source_.clear();
    return Show();
  }
  add_history(source_.substr(0, source_.size() - 1).c_str());
  RunCell();
}

// At the prompt it gives up what was typed; in a cell it interrupts the cell.
void Prompt::OnInterrupt() {
  if (console_.session().busy()) return console_.session().Interrupt();
  std::printf("\n");
  source_.clear();
  Hide();
  Show();
}

void Prompt::RunCell() {
  console_.loop().Unwatch(STDIN_FILENO);
  console_.session().Run(
      {.code = std::exchange(source_, ""), .observer = &printer_},
      [this](absl::StatusOr<CellOutcome> outcome) { OnOutcome(std::move(outcome)); });
}

void Prompt::OnOutcome(absl::StatusOr<CellOutcome> outcome) {
  if (!outcome.ok()) {
    Complain(outcome.status());
    return Leave(kExitCannotRun);
  }
  if (outcome->error && outcome->error->exit_code) return Leave(*outcome->error->exit_code);
  printer_.OnCellFinished(0, {.status = CellRunStatus::kComplete, .outcome = *std::move(outcome)});
  (void)console_.loop().Watch(STDIN_FILENO, EPOLLIN, [this](uint32_t) { rl_callback_read_char(); });
  Show();
}

void Prompt::Leave(int exit_code) {
  leaving_ = true;
  exit_code_ = exit_code;
  console_.Finish();
}

}  // namespace cellar::host
