#include "host/execute/notebook_runner.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "host/output/spoken_duration.h"
#include "notebook/cell_metadata.h"

namespace cellar::host {
namespace {

constexpr char kRaisesTag[] = "raises-exception";

// What the file says of a cell that did not end well. The last line of a traceback names the
// error; where there is no traceback of Python's, it is added.
CellError ErrorOf(const CellOutcome& outcome, absl::Duration timeout) {
  CellError error = *outcome.error;
  std::string& text = error.traceback;
  if (outcome.death) {
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
    absl::StrAppend(&text, error.ename, ": ", error.evalue);
  }
  if (outcome.timed_out) {
    if (!text.ends_with('\n')) text += '\n';
    absl::StrAppend(&text, "cellar: ", TimedOutAfter(timeout));
  }
  return error;
}

}  // namespace

NotebookRunner::NotebookRunner(EventLoop& loop, Session& session, notebook::Document document,
                               SaveTarget target, NotebookRunOptions options,
                               CallObserver& observer, DoneCallback done)
    : session_(session),
      document_(std::move(document)),
      options_(std::move(options)),
      observer_(observer),
      done_(std::move(done)),
      saver_(loop, std::move(target), [this] { return document_.Bytes(); }) {}

NotebookRunner::~NotebookRunner() { session_.ObserveBackground(nullptr); }

void NotebookRunner::Start() {
  session_.ObserveBackground(this);
  Next();
}

void NotebookRunner::Cancel() {
  result_.interrupted = true;
  if (cell_runs_) session_.Interrupt();
}

absl::Status NotebookRunner::SaveNow() {
  if (cell_runs_) {
    RunCell& cell = run_[current_];
    cell.record.ended = absl::Now();
    cell.recorder.AddText(Stream::kStderr, "[cellar: the run was ended while this cell ran]\n");
    Put(current_);
  }
  PutUpdated();
  return saver_.FinishNow();
}

void NotebookRunner::Next() {
  if (result_.interrupted || place_ == options_.cells.size()) return Finish();
  // The cell before is done, and what it shows can no longer change.
  if (auto old = run_.find(current_); old != run_.end() && !old->second.recorder.HasDisplayIds()) {
    run_.erase(old);
  }
  current_ = options_.cells[place_];
  run_[current_] = {};
  run_[current_].record.started = absl::Now();
  const std::string source = document_.document().Source(current_);
  observer_.OnCellStarted(current_, {.code = source});
  cell_runs_ = true;
  session_.Run(
      {.code = source, .timeout = options_.timeout, .observer = this, .retry = options_.retry},
      [this](absl::StatusOr<CellOutcome> outcome) { OnOutcome(std::move(outcome)); });
}

void NotebookRunner::Recount(CallObserver& newcomer) const {
  if (!cell_runs_) return;
  newcomer.OnCellStarted(current_, {.code = document_.document().Source(current_)});
  const RunCell& cell = run_.at(current_);
  for (const RecordedOutput& output : cell.recorder.Outputs(cell.artifact)) {
    if (output.kind == RecordedOutput::Kind::kStream) {
      newcomer.OnText(output.stream, output.text);
    } else {
      newcomer.OnDisplay({.kind = wire::DisplayKind::kDisplay,
                          .data = output.data,
                          .metadata = output.metadata,
                          .display_id = output.display_id});
    }
  }
}

void NotebookRunner::OnOutcome(absl::StatusOr<CellOutcome> outcome) {
  cell_runs_ = false;
  RunCell& cell = run_[current_];
  if (!outcome.ok()) {
    // What the cell had shown by then is kept.
    cell.record.ended = absl::Now();
    if (!cell.recorder.Outputs(cell.artifact).empty()) Put(current_);
    PutUpdated();
    return Refuse(outcome.status());
  }
  cell.record.execution_count = outcome->execution_count;
  cell.record.ended = absl::Now();
  cell.record.started = cell.record.ended - outcome->duration;
  for (CellOutput& output : outcome->background) {
    if (output.update) UpdateShown(output.display_id, output.data, output.metadata);
    cell.recorder.AddDisplay(std::move(output));
  }
  if (outcome->error) cell.recorder.AddError(ErrorOf(*outcome, options_.timeout));
  if (outcome->truncation) cell.artifact = outcome->truncation->artifact_path;
  Put(current_);
  PutUpdated();

  const bool failed = IsFailure(*outcome);
  ++result_.cells_run;
  result_.cells_failed += failed ? 1 : 0;
  result_.state_lost = outcome->state == StateAfter::kLost;
  // By whomever: one may also interrupt, rewind or close the session.
  const bool was_cancelled = outcome->status == CellStatus::kCancelled && !outcome->timed_out;
  if (was_cancelled) result_.interrupted = true;
  observer_.OnCellFinished(current_, {.status = RunStatusOf(outcome->status),
                                      .outcome = *outcome,
                                      .runs = outcome->runs,
                                      .clamp_note = options_.clamp_note,
                                      .failed = failed});
  ++place_;
  // After a death some of what the cells before have defined is missing, also when a snapshot has
  // brought back the rest; a session that was closed says so by the loss alone.
  const bool has_broken_off = outcome->death.has_value() || result_.state_lost;
  if (has_broken_off || (failed && !options_.allow_errors)) return Finish();
  Next();
}

// The cell could not be run. What the cells before it did is still to be told.
void NotebookRunner::Refuse(const absl::Status& status) {
  if (absl::IsCancelled(status)) result_.interrupted = true;  // the session was closed
  if (result_.cells_run == 0 && !result_.interrupted) {
    return saver_.Finish([this, status](const absl::Status&) { done_(status); });
  }
  result_.stopped = status;
  Finish();
}

bool NotebookRunner::IsFailure(const CellOutcome& outcome) const {
  if (outcome.ok()) return false;
  const bool raised = outcome.status == CellStatus::kError && !outcome.death;
  return !raised || !notebook::HasTag(document_.document(), current_, kRaisesTag);
}

void NotebookRunner::OnText(Stream stream, std::string_view text) {
  run_[current_].recorder.AddText(stream, text);
  observer_.OnText(stream, text);
}

void NotebookRunner::OnDisplay(const wire::Display& display) {
  observer_.OnDisplay(display);
  if (display.kind == wire::DisplayKind::kUpdate) {
    UpdateShown(display.display_id, display.data, display.metadata);
  } else {
    run_[current_].recorder.AddDisplay(display);
  }
}

void NotebookRunner::OnBackgroundText(Stream stream, std::string_view text) {
  // Before the first cell it belongs to none.
  if (auto last = run_.find(current_); last != run_.end()) {
    last->second.recorder.AddText(stream, text);
    if (!cell_runs_) Put(current_);
  }
  observer_.OnBackgroundText(stream, text);
}

void NotebookRunner::UpdateShown(const std::string& display_id,
                                 const std::vector<wire::MimeEntry>& data,
                                 const std::string& metadata) {
  for (auto& [cell, run] : run_) {
    const bool changed = run.recorder.Update(display_id, data, metadata);
    if (changed && cell != current_) updated_.insert(cell);
  }
}

void NotebookRunner::PutUpdated() {
  for (size_t cell : std::exchange(updated_, {})) Put(cell);
}

// Brings the document up to date with what is recorded of a cell.
void NotebookRunner::Put(size_t cell) {
  RunCell& run = run_[cell];
  run.record.outputs = run.recorder.Outputs(run.artifact);
  document_.Put(cell, run.record);
  run.record.outputs.clear();
  saver_.SaveSoon();
}

void NotebookRunner::Finish() {
  saver_.SaveSoon();
  saver_.Finish([this](const absl::Status&) { done_(absl::OkStatus()); });
}

}  // namespace cellar::host
