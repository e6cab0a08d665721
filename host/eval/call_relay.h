// An observer of calls that only hands on what it is told, to any number of others.
#pragma once

#include <cstddef>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "host/eval/call_observer.h"

namespace cellar::host {

// Does not answer WantsPause(): only the derived class knows whose wish counts.
class CallRelay : public CallObserver {
 public:
  void OnText(Stream stream, std::string_view text) final {
    ToAll([&](CallObserver& to) { to.OnText(stream, text); });
  }
  void OnDisplay(const wire::Display& display) final {
    ToAll([&](CallObserver& to) { to.OnDisplay(display); });
  }
  void OnBackgroundText(Stream stream, std::string_view text) final {
    ToAll([&](CallObserver& to) { to.OnBackgroundText(stream, text); });
  }
  void OnBackgroundDisplay(const wire::Display& display) final {
    ToAll([&](CallObserver& to) { to.OnBackgroundDisplay(display); });
  }
  void OnCellStarted(size_t index, const CallCell& cell) final {
    ToAll([&](CallObserver& to) { to.OnCellStarted(index, cell); });
  }
  void OnCellFinished(size_t index, const CellResult& result) final {
    ToAll([&](CallObserver& to) { to.OnCellFinished(index, result); });
  }

 private:
  // Calls `tell` with each of them.
  virtual void ToAll(absl::FunctionRef<void(CallObserver& to)> tell) = 0;
};

}  // namespace cellar::host
