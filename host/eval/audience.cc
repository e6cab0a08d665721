#include "host/eval/audience.h"

#include <utility>

namespace cellar::host {

CallObserver* Audience::Add(SessionWatcher& watcher, const WatchedCall& call) {
  onlookers_.push_back({&watcher, watcher.OnCall(call)});
  return onlookers_.back().observer.get();
}

void Audience::Remove(const SessionWatcher& watcher) {
  std::erase_if(onlookers_, [&](const Onlooker& other) { return other.watcher == &watcher; });
}

void Audience::Dismiss(const std::string& handle) {
  for (const Onlooker& onlooker : std::exchange(onlookers_, {})) {
    onlooker.watcher->OnCallOver(handle);
  }
}

void Audience::ToAll(absl::FunctionRef<void(CallObserver& to)> tell) {
  for (const Onlooker& onlooker : onlookers_) {
    if (onlooker.observer != nullptr) tell(*onlooker.observer);
  }
}

}  // namespace cellar::host
