// Those who watch a session, while one call or notebook has it: each is told what that does.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/eval/session_watcher.h"

namespace cellar::host {

class Audience : public CallObserver {
 public:
  // The observer that the watcher has made for itself, or null. It has not been told anything yet.
  CallObserver* Add(SessionWatcher& watcher, const WatchedCall& call);
  void Remove(const SessionWatcher& watcher);
  // The call of that handle has the session no more: tells all so, and forgets them.
  void Dismiss(const std::string& handle);

  void OnText(Stream stream, std::string_view text) override;
  void OnDisplay(const wire::Display& display) override;
  void OnBackgroundText(Stream stream, std::string_view text) override;
  void OnBackgroundDisplay(const wire::Display& display) override;
  void OnCellStarted(size_t index, const CallCell& cell) override;
  void OnCellFinished(size_t index, const CellResult& result) override;

 private:
  struct Onlooker {
    SessionWatcher* watcher;
    std::unique_ptr<CallObserver> observer;  // or null
  };

  template <typename Tell>
  void ToAll(Tell tell) {
    for (const Onlooker& onlooker : onlookers_) {
      if (onlooker.observer != nullptr) tell(*onlooker.observer);
    }
  }

  std::vector<Onlooker> onlookers_;
};

}  // namespace cellar::host
