// The ladder that ends every cell: interrupt, insist, write down where it hangs, kill. Climbs by
// time until it is destroyed, which the owner does as soon as the cell has settled.
#pragma once

#include "absl/time/time.h"
#include "host/base/event_loop.h"
#include "host/worker/worker.h"

namespace cellar::host {

inline constexpr absl::Duration kInterruptGrace = absl::Seconds(3);

class InterruptLadder {
 public:
  // Takes the first step at once. After `grace` the worker is killed.
  InterruptLadder(EventLoop& loop, Worker& worker, uint32_t cell, absl::Duration grace);
  ~InterruptLadder();
  InterruptLadder(const InterruptLadder&) = delete;

  // Skips the steps between: for a second request by someone who does not want to wait.
  void KillNow();
  bool killed() const { return killed_; }

 private:
  EventLoop& loop_;
  Worker& worker_;
  EventLoop::TimerId repeat_timer_;
  EventLoop::TimerId insist_timer_;
  EventLoop::TimerId dump_timer_;
  EventLoop::TimerId kill_timer_;
  bool killed_ = false;
};

}  // namespace cellar::host
