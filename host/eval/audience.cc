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

void Audience::OnText(Stream stream, std::string_view text) {
  ToAll([&](CallObserver& to) { to.OnText(stream, text); });
}

void Audience::OnDisplay(const wire::Display& display) {
  ToAll([&](CallObserver& to) { to.OnDisplay(display); });
}

void Audience::OnBackgroundText(Stream stream, std::string_view text) {
  ToAll([&](CallObserver& to) { to.OnBackgroundText(stream, text); });
}

void Audience::OnBackgroundDisplay(const wire::Display& display) {
  ToAll([&](CallObserver& to) { to.OnBackgroundDisplay(display); });
}

void Audience::OnCellStarted(size_t index, const CallCell& cell) {
  ToAll([&](CallObserver& to) { to.OnCellStarted(index, cell); });
}

void Audience::OnCellFinished(size_t index, const CellResult& result) {
  ToAll([&](CallObserver& to) { to.OnCellFinished(index, result); });
}

}  // namespace cellar::host
