// One call from its submission until its result is delivered, or, of one in the background,
// forgotten. Stands between its cells and those who
// look at them: the client's observer, which may leave before the call is over, and whoever watches
// the session. Decides nothing: CallService does.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "host/base/event_loop.h"
#include "host/eval/audience.h"
#include "host/eval/call.h"
#include "host/eval/call_id.h"
#include "host/eval/call_runner.h"
#include "host/eval/result.h"
#include "host/session/registry.h"

namespace cellar::host {

class RunningCall : public CallObserver {
 public:
  using ResultCallback = CallRunner::DoneCallback;

  struct Waiter {
    ResultCallback done;
    EventLoop::TimerId timer = 0;
  };
  // What only a call has that its client has left to run.
  struct Background {
    std::map<WaiterId, Waiter> waiters;
    std::optional<absl::StatusOr<CallResult>> result;  // once it is over
    size_t result_bytes = 0;                           // about
    absl::Time ended;
    bool was_waited_for = false;
  };

  RunningCall(CallId id, Call given, CallObserver* observer, ResultCallback done)
      : id(id), call(std::move(given)), observer(observer), done(std::move(done)) {}

  void OnText(Stream stream, std::string_view text) override;
  void OnDisplay(const wire::Display& display) override;
  void OnBackgroundText(Stream stream, std::string_view text) override;
  void OnCellStarted(size_t index, const CallCell& cell) override;
  void OnCellFinished(size_t index, const CellResult& result) override;
  bool WantsPause() const override { return observer != nullptr && observer->WantsPause(); }

  bool Holds(const std::string& session_id) const;
  // Its result is kept for those who ask.
  bool is_over() const { return background != nullptr && background->result; }

  // Tells the watcher first what the cell that runs has done so far.
  void AddOnlooker(SessionWatcher& watcher);

  // What the result would be if the call stood still now.
  CallResult SoFar() const;
  // Of a call none of whose cells has run.
  CallResult Unstarted(CallStatus status, CellRunStatus cell_status) const;

  const CallId id;
  Call call;
  CallId parent = 0;
  CallId held_by = 0;          // the one that waits for this one and holds its session; or 0
  Session* session = nullptr;  // that its cells run on, while `runner` is there
  CallObserver* observer;      // or null
  Audience audience;
  ResultCallback done;  // null once the client has its answer
  TicketId ticket = 0;
  bool cancelled = false;
  std::unique_ptr<CallRunner> runner;
  std::optional<SessionHold> hold;  // gone before the runner, which it may still call
  EventLoop::TimerId background_timer = 0;
  std::unique_ptr<Background> background;  // null while the client waits for its answer

 private:
  template <typename Tell>
  void ToAll(Tell tell);
  void Recount(CallObserver& to) const;
};

}  // namespace cellar::host
