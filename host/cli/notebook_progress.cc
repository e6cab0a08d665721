#include "host/cli/notebook_progress.h"

#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "host/base/fds.h"
#include "host/console/terminal.h"
#include "host/console/verdict.h"
#include "host/output/printable.h"
#include "host/output/spoken_duration.h"

namespace cellar::host {
namespace {

// The traceback calls cells by their execution count, as a notebook shows it.
std::string NameIn(const CellOutcome& outcome, size_t cell) {
  return absl::StrCat("cell ", cell, " is <cell ", outcome.execution_count, "> here:");
}

}  // namespace

NotebookProgress::NotebookProgress(EventLoop& loop, const std::vector<size_t>& cells)
    : cells_(cells.size()),
      on_terminal_(MovesCursor(STDOUT_FILENO)),
      printer_(nullptr, {.loop = &loop, .hint = "all of it is in the file"}) {
  std::vector<CallCell> plan;
  for (size_t cell : cells) plan.push_back({.title = absl::StrCat("cell ", cell)});
  printer_.Plan(plan);
}

void NotebookProgress::OnCellStarted(size_t, const CallCell& cell) {
  const size_t place = started_++;
  if (on_terminal_) printer_.OnCellStarted(place, cell);
}

void NotebookProgress::OnText(Stream stream, std::string_view text) {
  if (on_terminal_) printer_.OnText(stream, text);
}

void NotebookProgress::OnDisplay(const wire::Display& display) {
  if (on_terminal_) printer_.OnDisplay(display);
}

void NotebookProgress::OnBackgroundText(Stream stream, std::string_view text) {
  if (on_terminal_ || started_ == 0) printer_.OnText(stream, text);
}

void NotebookProgress::OnBackgroundDisplay(const wire::Display& display) {
  if (on_terminal_ || started_ == 0) printer_.OnDisplay(display);
}

void NotebookProgress::OnCellFinished(size_t index, const CellResult& result) {
  if (!on_terminal_) return PrintFinished(index, result);
  if (result.outcome.error) printer_.Note(NameIn(result.outcome, index));
  printer_.OnCellFinished(started_ - 1, result);
}

void NotebookProgress::PrintFinished(size_t cell, const CellResult& result) {
  const CellOutcome& outcome = result.outcome;
  PrintLine(STDOUT_FILENO,
            absl::StrCat("[", started_, "/", cells_, "] cell ", cell, ": ", VerdictOn(result)));
  for (const std::string& notice : outcome.notices) printer_.Note(notice);
  if (!result.failed.value_or(!outcome.ok()) || !outcome.error) return;
  std::string text =
      absl::StrCat("cellar: ", NameIn(outcome, cell), "\n", Printable(outcome.error->traceback));
  while (text.ends_with('\n')) text.pop_back();
  PrintLine(STDERR_FILENO, text);
  if (outcome.death) {
    PrintLine(STDERR_FILENO, Printable(outcome.error->ename + ": " + outcome.error->evalue));
  }
  if (!outcome.state_detail.empty()) {
    PrintLine(STDERR_FILENO, "cellar: " + Printable(outcome.state_detail));
  }
}

void NotebookProgress::EndLine() {
  if (on_terminal_) printer_.EndLine();
}

void NotebookProgress::PrintLine(int fd, std::string_view line) {
  EndLine();
  WriteAll(fd, std::string(line) + "\n");
}

std::string SummaryOf(const NotebookRunResult& result, absl::Duration duration) {
  std::string line =
      absl::StrCat(result.cells_run, result.cells_run == 1 ? " cell" : " cells", " run");
  if (result.cells_failed > 0) absl::StrAppend(&line, ", ", result.cells_failed, " failed");
  if (result.interrupted) absl::StrAppend(&line, ", interrupted");
  return absl::StrCat(line, ", ", SpokenDuration(duration));
}

absl::Status WrittenElsewhere(const std::string& path, const std::string& written) {
  return absl::AbortedError(
      absl::StrCat(path, ": changed on disk while it ran; the outputs are in ", written));
}

}  // namespace cellar::host
