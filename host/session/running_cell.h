// The cell that a session runs, with those that run inside its waits: what was asked for, what has
// come of it so far, and what watches it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "host/base/event_loop.h"
#include "host/session/cell_request.h"
#include "host/session/output_log.h"
#include "host/worker/interrupt_ladder.h"

namespace cellar::host {

// Why a cell was cancelled none of whose code has run.
inline constexpr char kNotBegun[] =
    "the cell had not begun: something that an earlier cell left was in the way";

struct RunningCell {
  RunningCell(EventLoop& loop, CellRequest request, OutcomeCallback done,
              std::unique_ptr<OutputLog> log);
  ~RunningCell();
  RunningCell(const RunningCell&) = delete;

  // `on_timeout` is called when the cell has been inactive for as long as it may be from now on.
  void RestartTimeout(EventLoop::Task on_timeout);
  void StopTimeout();
  // `over` is called when the time has passed that a worker has to become ready in which the cell
  // can be interrupted.
  void StartGrace(absl::Duration grace, EventLoop::Task over);
  void StopGrace();
  // Its worker is gone: nothing must climb or time out any more.
  void StopWatching();
  // The cell has ended. `finish` is called when all output of its outcome is on the disk too, or
  // that takes too long.
  void End(EventLoop::Task finish);
  // The session is closed under it; what the disk has not taken is not waited for.
  void EndAsClosed();

  // As far as it has come.
  CellOutcome OutcomeSoFar() const;
  // Complete, after its end.
  CellOutcome TakeOutcome();
  // It has ended, and the disk has all output of its outcome.
  bool IsSettled() const;

  // For one that was killed: "did not react to the interrupt and was killed".
  std::string DescribeKill() const;
  // The same as an error.
  std::string KillError() const;

  uint32_t number() const { return outcome.execution_count; }

  EventLoop& loop;
  CellRequest request;
  OutcomeCallback done;
  CellOutcome outcome;
  std::unique_ptr<OutputLog> log;
  std::unique_ptr<OutputLog> background;  // that its outcome takes along; or null
  absl::Time started;                     // MonotonicNow()
  std::unique_ptr<InterruptLadder> ladder;
  bool waits_for_snapshot = false;  // not sent yet: its worker is just being made
  bool interrupt_when_ready = false;
  bool asked_to_end = false;            // by somebody, not only by its time-out
  bool made_way = false;                // what kept it from beginning was interrupted
  bool kept_waiting = false;            // that did not help: its worker was killed, once
  bool had_not_begun = false;           // when it was interrupted: none of its code has run
  bool interrupted = false;             // by a ladder that is gone with the worker
  bool killed = false;                  // by that ladder, or before there could be one
  bool killed_by_interrupt = false;     // by an interrupt whose handler the cell had removed
  uint64_t parent = 0;                  // the call inside whose wait it runs; 0 = none
  bool interrupt_after_nested = false;  // as soon as what is nested in it has ended
  bool ended = false;                   // only the disk is waited for

 private:
  void End();

  EventLoop::TimerId timeout_timer_ = 0;
  EventLoop::TimerId grace_timer_ = 0;
  EventLoop::TimerId settle_timer_ = 0;
};

struct RunningCells {
  // By its number; null when there is none, or it has ended.
  RunningCell* Find(uint32_t number) const;
  // The one whose code runs now; null when none does.
  RunningCell* Innermost() const;
  // One that has ended, with all its output on the disk; null when there is none.
  RunningCell* InnermostSettled() const;
  // Whether the outer one is still running.
  bool OuterRuns() const { return outer != nullptr && !outer->ended; }
  // All, from the outside in.
  std::vector<RunningCell*> All() const;
  // Takes one out.
  std::unique_ptr<RunningCell> Take(const RunningCell& cell);
  // Takes all out.
  std::vector<std::unique_ptr<RunningCell>> TakeAll();

  std::unique_ptr<RunningCell> outer;
  std::vector<std::unique_ptr<RunningCell>> nested;  // each runs inside a wait of the one before
};

}  // namespace cellar::host
