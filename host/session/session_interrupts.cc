// The part of a session that ends cells before their time: interrupts and time-outs.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/base/clock.h"
#include "host/output/spoken_duration.h"
#include "host/session/session.h"

namespace cellar::host {
namespace {

// A cell that has to wait longer is held up by something, also on a busy machine.
constexpr absl::Duration kUndisturbed = absl::Milliseconds(300);

// A worker that has done nothing for so long may have been stopped.
constexpr absl::Duration kBeginning = absl::Milliseconds(100);

// How often a worker that does not begin is continued again, at least.
constexpr absl::Duration kBeginLookEvery = absl::Milliseconds(250);

// How long a cell without a time-out waits to begin before it is made way for.
constexpr absl::Duration kUnlimitedWait = absl::Seconds(15);

// A worker that has had so much time is not merely slow to begin, however busy the machine is.
constexpr absl::Duration kStuck = absl::Seconds(2);

}  // namespace

bool Session::Interrupt() {
  RunningCell* innermost = cells_.Innermost();
  if (innermost == nullptr) {
    if (cells_.outer != nullptr) return false;
    auto waiting = std::ranges::find_if(queue_, IsCell);
    if (waiting == queue_.end()) return false;
    std::get<CellJob>(*waiting).interrupted = true;
    return true;
  }
  if (restore_) {
    // Its worker has died; it must not run again.
    for (RunningCell* cell : cells_.All()) cell->interrupted = true;
    return true;
  }
  // One after the other from the inside: an interrupt names one cell.
  for (RunningCell* cell : cells_.All()) cell->interrupt_after_nested = true;
  AskToEnd(*innermost);
  return true;
}

void Session::InterruptNested(uint64_t call) {
  auto& nested = cells_.nested;
  auto cell = std::find_if(nested.begin(), nested.end(), [call](const auto& each) {
    return each->parent == call && !each->ended;
  });
  if (cell == nested.end() || restore_) return;
  for (; cell != nested.end(); ++cell) (*cell)->interrupt_after_nested = true;
  AskToEnd(*cells_.Innermost());
}

// Who asks again does not want to wait. A time-out does not count as having asked.
void Session::AskToEnd(RunningCell& cell) {
  const bool again = std::exchange(cell.asked_to_end, true);
  if (!again) return Interrupt(cell);
  if (cell.ladder != nullptr) return cell.ladder->KillNow();
  if (!worker_ready_) KillUnready(cell);
}

void Session::Interrupt(RunningCell& cell) {
  if (cell.ladder != nullptr) return;  // it climbs already
  if (!worker_ready_) {
    // A worker that is just being made has no handler for the signal yet.
    if (std::exchange(cell.interrupt_when_ready, true)) return;
    return cell.StartGrace(options_.interrupt_grace, [this, &cell] { KillUnready(cell); });
  }
  cell.StopGrace();
  cell.ladder =
      std::make_unique<InterruptLadder>(loop_, *worker_, cell.number(), options_.interrupt_grace);
  // Now that the interrupt has its target, a cell that begins finds it and runs no code.
  cell.had_not_begun = cell.parent == 0 && !worker_->HasReached(cell.number());
  // After the interrupt has its target: a call that is answered so looks for it.
  if (bridge_ != nullptr) bridge_->CancelCell(cell.number());
}

void Session::KillUnready(RunningCell& cell) {
  cell.StopGrace();
  cell.interrupted = cell.killed = true;
  cell.had_not_begun = true;
  worker_->Kill();
}

void Session::InterruptNextOuter() {
  RunningCell* outer = cells_.Innermost();
  if (outer != nullptr && outer->interrupt_after_nested && outer->ladder == nullptr &&
      !outer->interrupt_when_ready) {
    Interrupt(*outer);
  }
}

void Session::ExpectBegin() {
  if (begin_timer_ == 0) ExpectBeginWithin(kBeginning);
}

// Continues a worker that was stopped between cells. One timer for all cells that come meanwhile:
// to set one for each would cost more.
void Session::ExpectBeginWithin(absl::Duration time) {
  begin_timer_ = loop_.After(time, [this, time] {
    begin_timer_ = 0;
    if (worker_ == nullptr) return;
    const bool waits = cells_.OuterRuns() && !worker_->HasReached(cells_.outer->number());
    if (!waits && !value_.pending()) return;
    const bool is_late = !cells_.OuterRuns() || MonotonicNow() - cells_.outer->started >= time;
    if (is_late) worker_->Continue();
    if (waits && worker_ready_) MakeWay(*cells_.outer);
    ExpectBeginWithin(is_late ? std::min(2 * time, kBeginLookEvery) : time);
  });
}

// Half of its time is as long as what an earlier cell has left may keep a cell from beginning: then
// it has the other half. What does not give way is killed, and the cell runs in the next worker:
// none of its code has run. One without a time-out waits as long as others usually do, and nothing
// is killed for it.
void Session::MakeWay(RunningCell& cell) {
  const absl::Duration waited = MonotonicNow() - cell.started;
  const bool is_limited = cell.request.timeout > absl::ZeroDuration();
  const absl::Duration half = is_limited ? cell.request.timeout / 2 : kUnlimitedWait;
  if (waited < half || cell.ladder != nullptr) return;
  if (std::exchange(cell.made_way, true)) {
    if (!is_limited) return;
    const absl::Duration patience = half + std::min(options_.interrupt_grace, half / 2);
    if (waited < std::max(patience, kStuck) || std::exchange(cell.kept_waiting, true)) return;
    cell.request.timeout -= waited;
    kill_reason_ = "something that an earlier cell left kept the next one from beginning";
    return worker_->Kill();
  }
  worker_->MakeWay(cell.number());
  cell.outcome.notices.push_back(
      absl::StrCat("something that an earlier cell left kept this one from beginning for ",
                   SpokenDuration(waited), ", and was interrupted"));
}

void Session::RestartTimeout(RunningCell& cell) {
  // Time in which the host has to answer is not the cell's.
  if (bridge_ != nullptr && bridge_->HasCalls(cell.number())) return cell.StopTimeout();
  cell.RestartTimeout([this, &cell] { OnTimeout(cell); });
}

// Of a cell that was interrupted and whose code has not run.
void Session::TellNotBegun(RunningCell& cell) {
  // It was interrupted as soon as it was sent: nothing else kept it.
  if (MonotonicNow() - cell.started < kUndisturbed) return;
  cell.outcome.error = CellError{.ename = "KeyboardInterrupt",
                                 .evalue = kNotBegun,
                                 .traceback = absl::StrCat("KeyboardInterrupt: ", kNotBegun, "\n")};
}

// Interrupted while it waited for its turn: what is not sent cannot run.
void Session::EndUnsent(CellJob job) {
  CellOutcome outcome = {
      .status = CellStatus::kCancelled,
      .runs = 0,
      .error = CellError{.ename = "KeyboardInterrupt", .traceback = "KeyboardInterrupt\n"},
      .state_detail = "interrupted before it began, state kept"};
  untold_.TellUnbegun(outcome);
  job.done(std::move(outcome));
  Pump();
}

void Session::OnTimeout(RunningCell& cell) {
  cell.outcome.timed_out = true;
  Interrupt(cell);
}

}  // namespace cellar::host
