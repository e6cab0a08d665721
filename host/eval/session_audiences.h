// Who watches which session, and the visits that sessions have: what something other than a call
// does there is told to those who watch. Calls have audiences of their own, see RunningCall.
//
// Lives on the loop's thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "host/eval/audience.h"
#include "host/eval/call_id.h"
#include "host/eval/session_watcher.h"

namespace cellar::host {

// Something other than a call that has a session for a while, as a notebook that runs does.
struct SessionVisit {
  std::string session;
  std::string by;
  std::function<void()> cancel;  // called when somebody who watches asks for it
  // Tells what the cell under way has done before the newcomer looked.
  std::function<void(CallObserver& newcomer)> recount;
};

class SessionAudiences {
 public:
  // The watcher sees the visits to the session of that id, also the one under way, and its changes.
  // It is gone from here before it is destroyed.
  void Watch(const std::string& session, SessionWatcher& watcher);
  void Unwatch(const SessionWatcher& watcher);
  bool IsWatched(const std::string& session) const { return watchers_.contains(session); }

  // In the order in which they came.
  template <typename Tell>
  void ToWatchersOf(const std::string& session, Tell tell) const {
    const auto [first, last] = watchers_.equal_range(session);
    for (auto watcher = first; watcher != last; ++watcher) tell(*watcher->second);
  }

  // Nobody hears of a visit before it is shown. `id` is one that no call has.
  void Enter(CallId id, SessionVisit visit);
  void Show(CallId visit);
  CallObserver& AudienceOf(CallId visit) { return visits_.at(visit).audience; }
  void Leave(CallId visit);
  // False when there is no such visit.
  bool Cancel(CallId visit) const;
  // The visit that has that session; 0 when none has.
  CallId VisitTo(const std::string& session) const;

 private:
  struct Visiting {
    SessionVisit visit;
    Audience audience;
  };

  std::map<CallId, Visiting> visits_;
  std::multimap<std::string, SessionWatcher*> watchers_;  // by the session's id
};

}  // namespace cellar::host
