// One call from its submission until its result is delivered, or, if it ended in the background,
// until that is forgotten. It stands between its cells and those who look at them: the client's
// observer, which may leave before the call is over, and whoever watches the session. It decides
// nothing: CallService does.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "host/base/event_loop.h"
#include "host/eval/audience.h"
#include "host/eval/call.h"
#include "host/eval/call_id.h"
#include "host/eval/call_relay.h"
#include "host/eval/call_runner.h"
#include "host/eval/result.h"
#include "host/session/session_hold.h"

namespace cellar::host {

class RunningCall : public CallRelay {
 public:
  using ResultCallback = CallRunner::DoneCallback;

  struct Waiter {
    ResultCallback done;
    EventLoop::TimerId timer = 0;
  };

  RunningCall(CallId id, Call given, CallObserver* observer, ResultCallback done)
      : id(id), call(std::move(given)), observer(observer), done(std::move(done)) {}

  bool WantsPause() const override { return observer != nullptr && observer->WantsPause(); }

  // The id of the session that it holds; nothing if it holds none, or one of its own.
  std::optional<std::string> HeldSession() const;

  // The watcher sees the call from now on; it is first told what the running cell has done so far.
  void AddOnlooker(SessionWatcher& watcher);

  // What the result would be if the call stood still now.
  CallResult SoFar() const;
  // The result of a call none of whose cells has run.
  CallResult Unstarted(CallStatus status, CellRunStatus cell_status) const;

  const CallId id;
  Call call;
  CallId parent = 0;
  CallId held_by = 0;          // the one that waits for this one and holds its session; or 0
  Session* session = nullptr;  // its cells run there, while there is a runner
  CallObserver* observer;      // or null
  Audience audience;
  ResultCallback done;  // null once the client has its answer
  TicketId ticket = 0;
  bool cancelled = false;
  std::unique_ptr<CallRunner> runner;
  std::optional<SessionHold> hold;  // destroyed before the runner, which it may call
  EventLoop::TimerId background_timer = 0;
  bool is_in_background = false;       // its client has left it to run
  std::map<WaiterId, Waiter> waiters;  // for the result of one in the background

 private:
  void ToAll(absl::FunctionRef<void(CallObserver& to)> tell) override;
  void Recount(CallObserver& to) const;
};

}  // namespace cellar::host
