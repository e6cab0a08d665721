// Runs the cells of a call one after the other. Does not find the session, and does not queue:
// there is one runner at a time on a session.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "host/base/event_loop.h"
#include "host/eval/call.h"
#include "host/eval/call_observer.h"
#include "host/eval/result.h"
#include "host/session/session.h"

namespace cellar::host {

// Lives on the loop's thread, until `done` is called; that happens once, from a posted task, so
// that runner and session may be destroyed in it. Session and observer outlive the call.
class CallRunner {
 public:
  // A Status means that cells could not be run at all; what happened to cells is in the result.
  using DoneCallback = absl::AnyInvocable<void(absl::StatusOr<CallResult>)>;

  CallRunner(EventLoop& loop, Session& session, Call call, CallObserver* observer,
             DoneCallback done);
  CallRunner(const CallRunner&) = delete;

  void Start();
  // Runs on a session whose running cell waits for this call, inside that wait: see
  // Session::RunNested. What cannot be done there fails with FailedPrecondition.
  void StartNested();

  // Interrupts the running cell and lets no other start. A second call kills the running cell.
  void Cancel();

  // The number of the cell that it runs; nothing between cells.
  std::optional<uint32_t> running_cell() const {
    return cell_runs_ ? session_.RunningCellInside(waiting_call_) : std::nullopt;
  }
  // What the result would be if the call stood still now.
  CallResult SoFar() const;

 private:
  void Next();
  void RunCell();
  void OnOutcome(absl::StatusOr<CellOutcome> outcome);
  void TellReset(const char* what_became_of_the_cell);
  void Refuse(const absl::Status& status);
  void Finish();
  void Report(absl::StatusOr<CallResult> result);

  EventLoop& loop_;
  Session& session_;
  Call call_;
  CallObserver* observer_;  // or null
  DoneCallback done_;

  CallResult result_;
  bool is_nested_ = false;
  uint64_t waiting_call_ = 0;           // inside whose wait the nested cell runs
  size_t index_ = 0;                    // of the cell that runs, or is next
  uint64_t result_room_ = kResultRoom;  // what is left of it for the next cells
  bool was_reset_ = false;              // the session was, for the next cell
  bool cell_runs_ = false;
  bool cancelled_ = false;
};

}  // namespace cellar::host
