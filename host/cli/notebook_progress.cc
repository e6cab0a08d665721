#include "host/cli/notebook_progress.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "host/base/fds.h"
#include "host/console/screen_line.h"
#include "host/console/terminal.h"
#include "host/output/printable.h"

namespace cellar::host {
namespace {

constexpr absl::Duration kDrawInterval = absl::Milliseconds(100);
constexpr std::string_view kEraseLine = "\r\x1b[K";

// A terminal that can go back on its line.
bool CanRedraw(int fd) {
  const char* term = std::getenv("TERM");
  return IsTerminal(fd) && term != nullptr && std::strcmp(term, "dumb") != 0;
}

std::string Seconds(absl::Duration duration) {
  const double seconds = absl::ToDoubleSeconds(duration);
  return seconds < 10 ? absl::StrFormat("%.2f s", seconds) : absl::StrFormat("%.0f s", seconds);
}

std::string_view VerdictOf(const CellOutcome& outcome, bool failed) {
  if (outcome.timed_out) return "timed out";
  if (outcome.status == CellStatus::kCancelled) return "interrupted";
  if (failed) return "failed";
  return outcome.ok() ? "ok" : "raised, as its tag says";
}

}  // namespace

NotebookProgress::NotebookProgress(EventLoop& loop, size_t cells)
    : loop_(loop), cells_(cells), redraws_(CanRedraw(STDOUT_FILENO)) {}

NotebookProgress::~NotebookProgress() {
  loop_.Cancel(timer_);
  Erase();
}

void NotebookProgress::OnCellStarted(size_t place, size_t cell) {
  place_ = place;
  cell_ = cell;
  started_ = absl::Now();
  sanitiser_ = Sanitiser();
  last_line_.clear();
  if (redraws_ && timer_ == 0) DrawRegularly();
}

void NotebookProgress::OnText(Stream, std::string_view text) {
  if (!redraws_) return;
  std::string lines;
  sanitiser_.Write(text, &lines);
  while (lines.ends_with('\n')) lines.pop_back();
  if (!lines.empty()) last_line_ = lines.substr(lines.rfind('\n') + 1);
  if (!sanitiser_.pending_line().empty()) last_line_ = sanitiser_.pending_line();
}

void NotebookProgress::OnNotice(const std::string& notice) {
  PrintLine(STDERR_FILENO, absl::StrCat("cellar: ", Printable(notice)));
}

void NotebookProgress::OnCellFinished(size_t cell, const CellOutcome& outcome, bool failed) {
  if (redraws_ && !failed) return;
  PrintLine(STDOUT_FILENO, absl::StrCat(Place(cell), ": ", std::string(VerdictOf(outcome, failed)),
                                        ", ", Seconds(outcome.duration)));
  if (!failed || !outcome.error) return;
  // The traceback calls cells by their execution count, as a notebook shows it.
  std::string text = absl::StrCat("cellar: cell ", cell, " is <cell ", outcome.execution_count,
                                  "> here:\n", Printable(outcome.error->traceback));
  while (text.ends_with('\n')) text.pop_back();
  PrintLine(STDERR_FILENO, text);
  if (outcome.death) {
    PrintLine(STDERR_FILENO, Printable(outcome.error->ename + ": " + outcome.error->evalue));
  }
  if (!outcome.state_detail.empty()) {
    PrintLine(STDERR_FILENO, "cellar: " + Printable(outcome.state_detail));
  }
}

void NotebookProgress::PrintLine(int fd, std::string_view line) {
  Erase();
  WriteAll(fd, std::string(line) + "\n");
}

void NotebookProgress::Draw() {
  const std::string line =
      absl::StrCat(Place(cell_), "  ", Seconds(absl::Now() - started_), "  ", last_line_);
  // One column is left free: a terminal may go to the next line when the last one is filled.
  const size_t width = TerminalWidth(STDOUT_FILENO) - 1;
  WriteAll(STDOUT_FILENO, absl::StrCat(std::string(kEraseLine), CutToWidth(line, width)));
  drawn_ = true;
}

void NotebookProgress::DrawRegularly() {
  Draw();
  timer_ = loop_.After(kDrawInterval, [this] { DrawRegularly(); });
}

void NotebookProgress::Erase() {
  if (std::exchange(drawn_, false)) WriteAll(STDOUT_FILENO, kEraseLine);
}

std::string NotebookProgress::Place(size_t cell) const {
  return absl::StrCat("[", place_ + 1, "/", cells_, "] cell ", cell);
}

}  // namespace cellar::host
