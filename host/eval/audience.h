// Those who watch a session, while one call or notebook has it: each is told what that does.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "host/eval/call_relay.h"
#include "host/eval/session_watcher.h"

namespace cellar::host {

class Audience : public CallRelay {
 public:
  // The observer that the watcher has made for itself, or null. It has not been told anything yet.
  CallObserver* Add(SessionWatcher& watcher, const WatchedCall& call);
  void Remove(const SessionWatcher& watcher);
  // The call of that handle has the session no more: tells all so, and forgets them.
  void Dismiss(const std::string& handle);

 private:
  struct Onlooker {
    SessionWatcher* watcher;
    std::unique_ptr<CallObserver> observer;  // or null
  };

  void ToAll(absl::FunctionRef<void(CallObserver& to)> tell) override;

  std::vector<Onlooker> onlookers_;
};

}  // namespace cellar::host
