// Runs whole calls on the sessions of a registry: many at a time, each with an id by which it can
// be cancelled, left to run in the background, waited for and looked at. Front ends build on this.
//
// Lives on the loop's thread. Callbacks come from posted tasks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "host/eval/call.h"
#include "host/eval/call_id.h"
#include "host/eval/call_runner.h"
#include "host/eval/old_results.h"
#include "host/eval/result.h"
#include "host/eval/session_audiences.h"
#include "host/eval/session_watcher.h"
#include "host/session/session_hold.h"
#include "host/session/session_listener.h"
#include "host/session/session_query.h"

namespace cellar::host {

class RunningCall;
class SessionRegistry;

class CallService : private SessionListener {
 public:
  using ResultCallback = absl::AnyInvocable<void(absl::StatusOr<CallResult>)>;

  CallService(EventLoop& loop, SessionRegistry& registry);
  // All calls are over: the registry's CloseAll() has called back.
  ~CallService() override;
  CallService(const CallService&) = delete;

  // `done` is called once: with the result, or, when call.background_after has passed, with the
  // result so far, a status of kRunning and a handle; the call then goes on without its observer.
  // A Status says that cells could not be run at all; FailedPrecondition that the session refuses.
  // `observer` may be null, and outlives the call or is taken away.
  CallId Submit(Call call, CallObserver* observer, ResultCallback done);

  // A waiting call is answered with kCancelled and nothing run; a running one is interrupted, and
  // killed by a second Cancel. False when there is no such call, or it is over.
  bool Cancel(CallId id);

  // Its client is gone: nobody hears of the call any more, and it is cancelled.
  void Abandon(CallId id);

  // These are for calls in the background, whose results are kept until there are too many. Wait
  // gives the result, or the result so far once `limit` has passed; Tail gives that at once.
  WaiterId Wait(CallId id, absl::Duration limit, ResultCallback done);
  // The one who waits is gone. Does nothing when the waiter has its answer.
  void StopWaiting(WaiterId waiter);
  absl::StatusOr<CallResult> Tail(CallId id) const;
  // Whether a call in the background has ended within that time and nobody has waited for it yet.
  bool HasUnaskedResult(absl::Duration younger_than) const {
    return old_results_.HasUnasked(younger_than);
  }

  // The call, or the visit, that has that session now; 0 when none has.
  CallId HolderOf(const SessionKey& session) const;

  // The call whose session has made that call to the host (BridgeCall::id), the innermost one when
  // others are nested in it; 0 when none runs there.
  CallId CallerOf(uint64_t bridge_call) const;

  // Gives a session a fresh namespace, when its turn among the calls has come; until then the
  // registry's Withdraw() takes it back.
  TicketId Reset(SessionQuery query, absl::AnyInvocable<void(absl::Status)> done);

  // Those who watch the session are told of a visit as they are of a call, once it is shown to
  // them, and may cancel it. What it does is to be told to its audience, until it leaves.
  CallId Enter(SessionVisit visit);
  void Show(CallId visit) { audiences_.Show(visit); }
  CallObserver& AudienceOf(CallId visit) { return audiences_.AudienceOf(visit); }
  void Leave(CallId visit) { audiences_.Leave(visit); }

  // The watcher sees what happens on the session of that id, whenever it is open; also what a call
  // that runs already has done so far. It is gone from here before it is destroyed.
  void Watch(const std::string& session, SessionWatcher& watcher);
  void Unwatch(SessionWatcher& watcher);
  // Somebody has changed a session other than by this service.
  void Tell(const std::string& session, SessionChange change);

 private:
  bool HearsBackground(const std::string& id, TicketId holder) const override;
  void OnBackgroundText(const std::string& id, TicketId holder, Stream stream,
                        std::string_view text) override;
  void OnBackgroundDisplay(const std::string& id, TicketId holder,
                           const wire::Display& display) override;
  void OnClosing(const std::string& id) override { Tell(id, SessionChange::kClosed); }
  bool IsWatched(const std::string& id) const override { return audiences_.IsWatched(id); }

  // The call that it names as its parent; 0 when it names none.
  absl::StatusOr<CallId> ParentOf(const Call& call) const;
  void OnHold(RunningCall& call, absl::StatusOr<SessionHold> hold);
  void Start(RunningCall& call, Session& session, Call ready);
  void RunNested(RunningCall& call);
  void ShowToWatchers(RunningCall& call);
  void OnBackground(RunningCall& call);
  void Finish(RunningCall& call, absl::StatusOr<CallResult> result);
  // Null when there is no such call, or it is over.
  RunningCall* FindUnderWay(CallId id) const;
  // The id of the session that the call runs on; nothing while it has none, or one of its own.
  std::optional<std::string> SessionOf(const RunningCall& call) const;
  bool WaitsFor(CallId waiting, CallId ancestor_of) const;
  CallId CallWithTicket(TicketId ticket) const;

  EventLoop& loop_;
  SessionRegistry& registry_;
  // One in the background stays until its result is forgotten: WaitsFor follows the parents of
  // calls through it.
  std::map<CallId, std::unique_ptr<RunningCall>> calls_;
  OldResults old_results_;
  SessionAudiences audiences_;
  CallId next_id_ = 1;
  WaiterId next_waiter_ = 1;
};

}  // namespace cellar::host
