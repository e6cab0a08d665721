// The part of a session that says what the end of a worker means: for the cell that ran, for the
// state, and for what comes next.
#include <csignal>
#include <utility>

#include "host/session/session.h"

namespace cellar::host {
namespace {

// More deaths than this, with no cell between them that went well, and cells are refused.
constexpr int kMaxDeathsInARow = 3;

}  // namespace

void Session::OnWorkerExit(WorkerExit exit) {
  const bool restore_failed = restore_.has_value();
  if (!kill_reason_.empty()) exit.reason = std::exchange(kill_reason_, "");
  if (restore_failed) exit = restore_->exit;
  snapshots_.OnWorkerExit();
  bridge_.reset();
  queries_.FailAll(closing_ ? absl::CancelledError("the session was closed")
                            : absl::UnavailableError("the worker " + exit.Describe()));
  if (!closing_ && FoundDead(exit)) Requeue();
  for (RunningCell* cell : cells_.All()) cell->StopWatching();
  if (!restore_failed && worker_ready_ && !closing_ && !resetting_) {
    if (DiedOfItsSnapshot()) {
      snapshots_.Drop(untried_);
    } else {
      CountDeath(exit);
    }
  }
  if (!closing_ && !resetting_ && StartRestore(exit, restore_failed)) return;
  // The template was killed before it could fork, or the worker before it was ready, and nobody
  // knew yet: nothing has run, so another one may try. The worker itself says so, because its
  // keeper may have died before it could tell that there is one.
  const bool nothing_has_run = worker_->HasBegun(0);
  const bool is_unborn = worker_->pid() < 0 || (!worker_ready_ && exit.signal == SIGKILL);
  bool again = !restore_failed && !exit.exhausted && nothing_has_run && is_unborn &&
               template_was_ready_ && !std::exchange(start_retried_, true);
  // Not destroyed here: this is a call from inside it.
  loop_.Post([worker = std::move(worker_)] {});
  bool could_not_start = !std::exchange(worker_ready_, false) && !restore_failed && nothing_has_run;
  if (branched_) return FinishBranch(absl::UnavailableError("the branch " + exit.Describe()));
  if (closing_) return FinishClose();
  if (resetting_) {
    snapshots_.Clear();
    return FinishReset();
  }
  if (!cells_.OuterRuns() && !could_not_start && had_cells_) Lose(exit);
  if (running_value_) {
    ValueJob job = TakeRunningValue();
    if (again) {
      queue_.push_front(std::move(job));
    } else {
      job.done(absl::UnavailableError("the worker " + exit.Describe()));
    }
  }
  if (cells_.OuterRuns()) {
    const RunningCell& cell = *cells_.outer;
    const bool has_run = cell.outcome.runs > 1;
    if (again && !has_run && !cell.interrupted && !cell.interrupt_when_ready) {
      queue_.push_front(TakeBack());
    } else if (could_not_start && !has_run && !cell.killed) {
      FailStart(exit);
    } else {
      OnDeathInCell(std::move(exit), std::nullopt);
    }
  }
  Pump();
}

// It was dead already when the cell was sent to it: the cell before is the last that it began. A
// worker that wrote garbage is not believed; one that went with its keeper, which can no longer
// tell how it ended, is.
bool Session::FoundDead(const WorkerExit& exit) {
  const bool with_its_keeper = !exit.signal && !exit.exit_code;
  const RunningCell* cell = cells_.outer.get();
  return worker_ready_ && cells_.OuterRuns() && cell->ladder == nullptr &&
         cell->outcome.runs == 1 && (exit.reason.empty() || with_its_keeper) &&
         worker_->HasBegun(cell->number() - 1);
}

// No code of any cell has run in this copy of a snapshot: a task or timer that was copied with it
// has ended it, or keeps cells from beginning. Another copy would fare no better.
bool Session::DiedOfItsSnapshot() {
  if (untried_ == nullptr || rewind_) return false;
  const RunningCell* cell = cells_.outer.get();
  return !cells_.OuterRuns() || cell->had_not_begun || !worker_->HasReached(cell->number());
}

// The cell waits for the next worker, as if the death had been noticed in time.
void Session::Requeue() {
  --cells_run_;
  next_cell_ = cells_.outer->number();
  queue_.push_front(TakeBack());
}

// The running cell, as it was asked for.
Session::CellJob Session::TakeBack() {
  std::unique_ptr<RunningCell> cell = std::move(cells_.outer);
  return {.request = std::move(cell->request),
          .done = std::move(cell->done),
          .interrupted = cell->interrupt_when_ready};
}

// No cell has run: what was to run may be tried again, or fails.
void Session::FailStart(const WorkerExit& exit) {
  absl::Status status = exit.exhausted ? absl::ResourceExhaustedError(exit.Describe())
                                       : absl::UnavailableError(exit.Describe());
  Job job = TakeBack();
  if (!Relieve(job, status)) Fail(std::move(job), status);
}

void Session::CountDeath(const WorkerExit& exit) {
  RunningCell* cell = cells_.Innermost();
  if (rewind_ || (cell != nullptr && cell->interrupted)) return;  // ended on purpose
  ++deaths_in_a_row_;
  last_death_ = exit.Describe();
}

// There is nothing to go back to: the next cell finds nothing where there was something.
Session::Recovery Session::Lose(const WorkerExit& exit) {
  RunningCell* cell = cells_.Innermost();
  const bool killed = cell != nullptr && cell->killed;
  restored_note_.clear();
  const std::string what = killed ? cell->DescribeKill() : "the worker " + exit.Describe();
  fresh_reason_ = (killed ? "the cell before " : "") + what;
  return {
      .state = StateAfter::kLost, .detail = what + ", state lost", .is_before_cell = !had_cells_};
}

void Session::OnDeathInCell(WorkerExit exit, std::optional<Recovery> restored) {
  const std::string fresh_before = std::exchange(fresh_reason_, "");
  const std::string restored_before = std::exchange(restored_note_, "");
  const bool killed = rewind_ || cells_.Innermost()->killed;
  const Recovery recovery = restored ? *std::move(restored) : Lose(exit);
  // From the inside out: the outcome of the outer cell is the last word.
  while (cells_.OuterRuns() && cells_.Innermost() != cells_.outer.get()) {
    FinishAsDead(*cells_.Innermost(), exit, killed, recovery);
  }
  if (!cells_.OuterRuns())
    return;  // someone who heard of the end of an inner one closed the session
  RunningCell& outer = *cells_.outer;
  CellOutcome& outcome = outer.outcome;
  const bool may_run_again = outer.request.retry == Retry::kOnce && outcome.runs == 1 &&
                             recovery.is_before_cell && !outer.interrupted && !rewind_;
  if (!may_run_again || !CheckDeaths().ok() || !Prepare().ok()) {
    // What a cell that lives says of the state before it.
    if (!fresh_before.empty()) outcome.notices.push_back(fresh_before + kRanFresh);
    if (!restored_before.empty()) outcome.notices.push_back(restored_before);
    return FinishAsDead(outer, std::move(exit), killed, recovery);
  }
  // What the first run printed stays.
  outcome.runs = 2;
  outcome.notices.push_back("the worker " + exit.Describe() + "; the cell was run again");
  outcome.error.reset();
  fresh_reason_ = fresh_before;
  restored_note_ = restored_before;
  SendCell();
}

void Session::FinishAsDead(RunningCell& cell, WorkerExit exit, bool killed,
                           const Recovery& recovery) {
  CellOutcome& outcome = cell.outcome;
  outcome.status = killed ? CellStatus::kCancelled : CellStatus::kError;
  outcome.state = recovery.state;
  outcome.state_detail = recovery.detail;
  if (recovery.state == StateAfter::kRestored) TellNotCarried(outcome);
  outcome.error = CellError{.ename = killed ? "CellKilled" : "WorkerDied",
                            .evalue = rewind_  ? "the session was rewound"
                                      : killed ? cell.KillError()
                                               : "the worker " + exit.Describe(),
                            .traceback = exit.python_stack};
  outcome.death = std::move(exit);
  Settle(cell);
}

absl::Status Session::CheckDeaths() const {
  if (deaths_in_a_row_ <= kMaxDeathsInARow) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "the session's worker died " + std::to_string(deaths_in_a_row_) +
      " times in a row, the last time it " + last_death_ + "; reset the session to go on");
}

}  // namespace cellar::host
