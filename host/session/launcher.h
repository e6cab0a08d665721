// Prepares launches away from the loop's thread: looking for an interpreter reads files and may run
// programs. Lives on the loop's thread.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "absl/functional/any_invocable.h"
#include "host/base/event_loop.h"
#include "host/base/lifeline.h"
#include "host/base/task_thread.h"
#include "host/base/unique_fd.h"
#include "host/session/launch.h"
#include "host/session/opening.h"

namespace cellar::host {

class Launcher {
 public:
  using Callback = absl::AnyInvocable<void(absl::StatusOr<Launch>)>;

  // `base` is what every query starts from, `launch` what it came to: the launch of a session that
  // asks for nothing of its own.
  Launcher(EventLoop& loop, LaunchQuery base, Launch launch);
  // Ends what runs to be asked; only a file system that hangs is waited for.
  ~Launcher();
  Launcher(const Launcher&) = delete;

  const Launch& host_launch() const { return launch_; }

  // What `opening` does not say is as the host's. `done` is called from a posted task, unless the
  // launcher is gone by then. One that hangs, in a program or a file system, holds up no others.
  void Prepare(SessionOpening opening, Callback done);

 private:
  static constexpr size_t kLanes = 8;
  struct Lane {
    TaskThread thread;
    size_t under_way = 0;
  };

  EventLoop& loop_;
  LaunchQuery base_;
  Launch launch_;
  Lifeline lifeline_;
  UniqueFd leaving_;  // an eventfd: readable once the launcher goes
  std::array<Lane, kLanes> lanes_;
};

}  // namespace cellar::host
