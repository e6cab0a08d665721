// Knows when a worker may have printed something, and looks then: when the doorbell rings, when a
// pipe can be read, and every few milliseconds while output flows.
//
// Lives on the loop's thread.
#pragma once

#include "absl/functional/any_invocable.h"
#include "host/base/event_loop.h"
#include "host/base/unique_fd.h"
#include "host/worker/timeline.h"

namespace cellar::host {

class OutputWatch {
 public:
  using GarbageCallback = absl::AnyInvocable<void(const absl::Status& why)>;

  // `deliver_frames`: see Timeline::Drain. `on_garbage` is told of what no worker prints.
  OutputWatch(EventLoop& loop, Timeline& timeline, UniqueFd doorbell,
              EventLoop::Task deliver_frames, GarbageCallback on_garbage);
  ~OutputWatch() { Stop(); }
  OutputWatch(const OutputWatch&) = delete;

  absl::Status Start();
  // As when the doorbell rings: something has been printed, and more may come.
  void Expect();
  // Delivers what has been printed, now.
  void Look();
  // While paused nothing is read: prints fill the ring and the pipes, and then wait.
  void Pause(bool paused);
  void Stop();

 private:
  absl::Status WatchPipe(int fd);
  void OnDoorbell();
  void LookAgain();

  EventLoop& loop_;
  Timeline& timeline_;
  UniqueFd doorbell_;
  EventLoop::Task deliver_frames_;
  GarbageCallback on_garbage_;
  bool flows_ = false;  // looks by itself, and need not be rung for
  bool paused_ = false;
  bool stopped_ = false;
  EventLoop::TimerId timer_ = 0;
};

}  // namespace cellar::host
