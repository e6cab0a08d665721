// One notebook that runs for a client: made ready on the thread for files, run when the session is
// free, saved while it runs. What its cells do is streamed as that of a call is.
//
// Lives on the loop's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "host/base/event_loop.h"
#include "host/base/lifeline.h"
#include "host/base/task_thread.h"
#include "host/eval/call_relay.h"
#include "host/eval/call_service.h"
#include "host/execute/notebook_runner.h"
#include "host/serve/call_stream.h"
#include "host/serve/notebook_request.h"
#include "host/session/registry.h"

namespace cellar::host {

class NotebookJob : private CallRelay {
 public:
  struct Outcome {
    NotebookRunResult result;
    std::string file;    // the one that was written
    absl::Status saved;  // or why it was not
    std::string clamp_note;
  };
  // Called once, from a posted task, when the job may be destroyed. A Status says that no cell
  // could be run.
  using DoneCallback = absl::AnyInvocable<void(absl::StatusOr<Outcome>)>;

  // What it borrows outlives it, but `stream`, which Abandon takes away.
  NotebookJob(EventLoop& loop, SessionRegistry& registry, CallService& service, TaskThread& files,
              NotebookSessionRun request, CallStream& stream, DoneCallback done);
  // When the host ends while it runs, the outputs so far are saved.
  ~NotebookJob() override;
  NotebookJob(const NotebookJob&) = delete;

  void Start();
  // Interrupts the running cell and lets no other start. A second call kills the running cell.
  void Cancel();
  // Its client is gone: nothing is streamed any more, and it is cancelled.
  void Abandon();

  // By which those who watch the session know it; 0 when it has none that can be watched.
  CallId visit() const { return visit_; }

  // Whether one of its cells waits for that call to the host.
  bool HasCall(uint64_t call) const { return hold_ && hold_->session().CellThatCalls(call); }

 private:
  void OnPrepared(absl::StatusOr<PreparedRun> prepared);
  void OnHold(absl::StatusOr<SessionHold> hold);
  void FinishUnstarted();
  void TakeBackground();
  void ReleaseSession();
  void EnterSession();
  void LeaveSession();
  void Finish(absl::StatusOr<Outcome> outcome);

  // Null when the client is gone.
  CallObserver* Client() const;
  void ToAll(absl::FunctionRef<void(CallObserver& to)> tell) override;

  EventLoop& loop_;
  SessionRegistry& registry_;
  CallService& service_;
  TaskThread& files_;
  NotebookSessionRun request_;
  CallStream* stream_;
  DoneCallback done_;

  std::optional<PreparedRun> prepared_;
  TicketId ticket_ = 0;
  bool cancelled_ = false;
  std::optional<SessionHold> hold_;
  CallId visit_ = 0;
  std::unique_ptr<NotebookRunner> runner_;  // gone before the hold, whose session it uses
  Lifeline lifeline_;
};

}  // namespace cellar::host
