// The part of a session that says what the end of a worker means: for the cell that ran, for the
// state, and for what comes next.
#include <csignal>
#include <utility>

#include "host/base/clock.h"
#include "host/session/session.h"
#include "host/session/session_errors.h"
#include "host/wire/keeper_messages.h"

namespace cellar::host {
namespace {

// Whether it died of a signal by which a ladder interrupts: a cell had removed the handler.
bool IsOfLadder(const WorkerExit& exit) {
  return exit.signal == SIGINT || exit.signal == wire::InsistSignal() ||
         exit.signal == wire::DumpSignal();
}

}  // namespace

void Session::OnWorkerExit(WorkerExit exit) {
  if (!kill_reason_.empty()) exit.reason = std::exchange(kill_reason_, "");
  snapshots_.OnWorkerExit();
  bridge_.reset();
  queries_.FailAll(closing_ ? SessionClosed()
                            : absl::UnavailableError("the worker " + exit.Describe()));
  if (closing_) {
    DropWorker();
    FinishClose();
  } else if (resetting_) {
    DropWorker();
    snapshots_.Clear();
    FinishReset();
  } else if (branched_) {
    DropWorker();
    FinishBranch(absl::UnavailableError("the branch " + exit.Describe()));
  } else if (restore_) {
    OnFailedCopy();
  } else if (worker_ready_) {
    OnDeath(std::move(exit));
  } else {
    OnFailedStart(exit);
  }
}

// Not destroyed here: its end is told by a call from inside it.
void Session::DropWorker() {
  worker_ready_ = false;
  loop_.Post([worker = std::move(worker_)] {});
}

// The worker died before it was ready. Where nothing has run, another one may try: the template was
// killed before it could fork, or the worker before it was ready, and nobody knew yet. The worker
// itself says whether it has begun something, because its keeper may have died before it could tell
// that there is one.
void Session::OnFailedStart(const WorkerExit& exit) {
  for (RunningCell* cell : cells_.All()) cell->StopWatching();
  const bool nothing_has_run = worker_->HasBegun(0);
  const bool is_unborn = worker_->pid() < 0 || exit.signal == SIGKILL;
  const bool again = nothing_has_run && is_unborn && !exit.exhausted && template_was_ready_ &&
                     !std::exchange(start_retried_, true);
  DropWorker();
  if (value_.pending()) {
    ValueJob job = value_.Take();
    if (again) {
      queue_.push_front(std::move(job));
    } else {
      job.done(absl::UnavailableError("the worker " + exit.Describe()));
    }
  } else if (cells_.OuterRuns()) {
    const RunningCell& cell = *cells_.outer;
    const bool has_run = cell.outcome.runs > 1;
    if (again && !has_run && !cell.interrupted && !cell.interrupt_when_ready) {
      queue_.push_front(TakeBack());
    } else if (nothing_has_run && !has_run && !cell.killed) {
      absl::Status status = exit.exhausted ? absl::ResourceExhaustedError(exit.Describe())
                                           : absl::UnavailableError(exit.Describe());
      Job job = TakeBack();
      if (!Relieve(job, status)) Fail(std::move(job), status);
    } else {
      OnDeathInCell(exit, std::nullopt);
    }
  }
  Pump();
}

// A copy of a snapshot did not come to life, so none will. The death that it was to make good is
// still the one to tell of.
void Session::OnFailedCopy() {
  Restore failed = *std::exchange(restore_, std::nullopt);
  loop_.Cancel(failed.limit_timer);
  snapshots_.Drop(failed.from);
  RestoreOrLose(std::move(failed.exit), /*again=*/true);
}

void Session::OnDeath(WorkerExit exit) {
  if (cells_.OuterRuns() && WasDeadBefore(*cells_.outer, exit)) {
    // The cell is for the next worker, as if the death had been noticed in time.
    if (worker_->BrokeBefore(cells_.outer->number())) exit.reason = "cells had broken its Python";
    next_cell_ = cells_.outer->number();
    queue_.push_front(TakeBack());
  }
  for (RunningCell* cell : cells_.All()) cell->StopWatching();
  if (RunningCell* cell = cells_.Innermost(); cell != nullptr && IsOfLadder(exit)) {
    cell->killed_by_interrupt = cell->interrupted && !cell->killed;
    cell->killed |= cell->killed_by_interrupt;
  }
  if (DiedOfItsSnapshot()) {
    snapshots_.Drop(untried_);
  } else if (!WasEndedOnPurpose()) {
    deaths_.Count(exit);
  }
  RestoreOrLose(std::move(exit), /*again=*/false);
}

// Whether it was dead already when the cell was sent to it, or as good as that: the cell before is
// the last that it began, or it ended before any code of this one. A worker that wrote garbage is
// not believed; one that went with its keeper, which can no longer tell how it ended, is.
bool Session::WasDeadBefore(const RunningCell& cell, const WorkerExit& exit) {
  const bool with_its_keeper = !exit.signal && !exit.exit_code;
  const bool is_believed = exit.reason.empty() || with_its_keeper || cell.kept_waiting;
  const bool had_not_begun = is_believed && worker_->HasBegun(cell.number() - 1);
  const bool was_broken = exit.exit_code && worker_->BrokeBefore(cell.number());
  return cell.ladder == nullptr && cell.outcome.runs == 1 && (had_not_begun || was_broken);
}

// No code of any cell has run in this copy of a snapshot: a task or timer that was copied with it
// has ended it, or keeps cells from beginning; or its Python is broken. Another copy would fare no
// better.
bool Session::DiedOfItsSnapshot() {
  if (untried_ == nullptr || rewind_) return false;
  const RunningCell* cell = cells_.outer.get();
  return !cells_.OuterRuns() || cell->had_not_begun || !worker_->HasReached(cell->number());
}

bool Session::WasEndedOnPurpose() const {
  const RunningCell* cell = cells_.Innermost();
  return rewind_ || (cell != nullptr && cell->interrupted);
}

void Session::RestoreOrLose(WorkerExit exit, bool again) {
  if (StartRestore(exit, again)) return;
  DropWorker();
  if (cells_.OuterRuns()) {
    OnDeathInCell(std::move(exit), std::nullopt);
  } else {
    if (had_cells_) Lose(exit);
    if (value_.pending()) {
      value_.Take().done(absl::UnavailableError("the worker " + exit.Describe()));
    }
  }
  Pump();
}

// There is nothing to go back to: the next cell finds nothing where there was something.
Session::Recovery Session::Lose(const WorkerExit& exit) {
  RunningCell* cell = cells_.Innermost();
  const bool killed = cell != nullptr && cell->killed;
  const std::string what = killed ? cell->DescribeKill() : "the worker " + exit.Describe();
  untold_.OnLost((killed ? "the cell before " : "") + what);
  return {
      .state = StateAfter::kLost, .detail = what + ", state lost", .is_before_cell = !had_cells_};
}

void Session::OnDeathInCell(WorkerExit exit, std::optional<Recovery> restored) {
  const UntoldState found = std::exchange(untold_, {});
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
  if (!may_run_again || !deaths_.Check().ok() || !Prepare().ok()) {
    found.TellBeside(outcome);
    return FinishAsDead(outer, std::move(exit), killed, recovery);
  }
  // What the first run printed stays.
  outcome.runs = 2;
  outcome.notices.push_back("the worker " + exit.Describe() + "; the cell was run again");
  outcome.error.reset();
  untold_ = found;
  outer.started = MonotonicNow();
  SendCell();
}

void Session::FinishAsDead(RunningCell& cell, WorkerExit exit, bool killed,
                           const Recovery& recovery) {
  CellOutcome& outcome = cell.outcome;
  outcome.status = killed ? CellStatus::kCancelled : CellStatus::kError;
  outcome.state = recovery.state;
  outcome.state_detail = recovery.detail;
  if (recovery.state == StateAfter::kRestored) TellNotCarried(worker_->not_carried(), outcome);
  outcome.error = CellError{.ename = killed ? "CellKilled" : "WorkerDied",
                            .evalue = rewind_  ? "the session was rewound"
                                      : killed ? cell.KillError()
                                               : "the worker " + exit.Describe(),
                            .traceback = exit.python_stack};
  outcome.death = std::move(exit);
  Settle(cell);
}

// The running cell, as it was asked for: it has not run.
CellJob Session::TakeBack() {
  --cells_run_;
  std::unique_ptr<RunningCell> cell = std::move(cells_.outer);
  return {.request = std::move(cell->request),
          .done = std::move(cell->done),
          .interrupted = cell->interrupt_when_ready,
          .kept_waiting = cell->kept_waiting};
}

}  // namespace cellar::host
