// Somebody who looks at a session: sees the calls that anybody makes on it, and what else becomes
// of it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "host/eval/call_observer.h"

namespace cellar::host {

// What happens to a session other than by a call.
enum class SessionChange { kReset, kRewound, kClosed };

// What has a session while somebody watches it: a call, or a notebook that runs.
struct WatchedCall {
  std::string handle;
  std::string by;          // who has made it
  bool is_nested = false;  // it runs inside a cell that waits for it
};

// Called on the loop's thread; must not block, nor stop watching.
class SessionWatcher {
 public:
  virtual ~SessionWatcher() = default;
  // A call has the session now. What its cells do is told to the observer that this returns, for as
  // long as it has the session; if that is null, to nobody.
  virtual std::unique_ptr<CallObserver> OnCall(const WatchedCall& call) = 0;
  virtual void OnCallOver(const std::string& handle) = 0;
  // Something was printed or shown while no call has the session.
  virtual void OnBackgroundText(Stream stream, std::string_view text) = 0;
  virtual void OnBackgroundDisplay(const wire::Display& display) = 0;
  virtual void OnChange(SessionChange change) = 0;
};

}  // namespace cellar::host
