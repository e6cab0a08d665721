// Reaches the daemon as DialOrStartDaemon does, but on a thread of its own: somebody sits at the
// loop, and a daemon may take long to start.
#pragma once

#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "host/base/event_loop.h"
#include "host/runtime/environment.h"
#include "host/serve/client.h"

namespace cellar::host {

class BackgroundDial {
 public:
  using Callback = absl::AnyInvocable<void(absl::StatusOr<std::unique_ptr<Client>>)>;

  // `done` is called from a posted task, in which this may be destroyed.
  BackgroundDial(EventLoop& loop, const Environment& env, Callback done);
  // Nobody waits for the thread: what it comes to is dropped.
  ~BackgroundDial();
  BackgroundDial(const BackgroundDial&) = delete;

 private:
  struct Waiting;

  std::shared_ptr<Waiting> waiting_;  // also the thread's, which may outlive this
};

}  // namespace cellar::host
