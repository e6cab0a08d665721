#include "host/eval/session_audiences.h"

#include <utility>

namespace cellar::host {

void SessionAudiences::Watch(const std::string& session, SessionWatcher& watcher) {
  watchers_.emplace(session, &watcher);
  for (auto& [id, visiting] : visits_) {
    if (visiting.visit.session != session) continue;
    CallObserver* newcomer =
        visiting.audience.Add(watcher, {.handle = HandleOf(id), .by = visiting.visit.by});
    if (newcomer != nullptr) visiting.visit.recount(*newcomer);
  }
}

void SessionAudiences::Unwatch(const SessionWatcher& watcher) {
  std::erase_if(watchers_, [&](const auto& other) { return other.second == &watcher; });
  for (auto& [id, visiting] : visits_) visiting.audience.Remove(watcher);
}

void SessionAudiences::Enter(CallId id, SessionVisit visit) {
  visits_[id].visit = std::move(visit);
}

void SessionAudiences::Show(CallId visit) {
  Visiting& visiting = visits_.at(visit);
  ToWatchersOf(visiting.visit.session, [&](SessionWatcher& watcher) {
    visiting.audience.Add(watcher, {.handle = HandleOf(visit), .by = visiting.visit.by});
  });
}

void SessionAudiences::Leave(CallId visit) {
  visits_.extract(visit).mapped().audience.Dismiss(HandleOf(visit));
}

bool SessionAudiences::Cancel(CallId visit) const {
  const auto visiting = visits_.find(visit);
  if (visiting == visits_.end()) return false;
  visiting->second.visit.cancel();
  return true;
}

CallId SessionAudiences::VisitTo(const std::string& session) const {
  for (const auto& [id, visiting] : visits_) {
    if (visiting.visit.session == session) return id;
  }
  return 0;
}

}  // namespace cellar::host
