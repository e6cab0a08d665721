#include "host/worker/output_watch.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <utility>

namespace cellar::host {
namespace {

// While output flows, the ring is looked at this often instead of being rung for each print.
constexpr absl::Duration kEvery = absl::Milliseconds(2);
// After a pause the first output waits so long for what belongs to it: print() writes its text and
// then the newline.
constexpr absl::Duration kGathering = absl::Microseconds(200);

}  // namespace

OutputWatch::OutputWatch(EventLoop& loop, Timeline& timeline, UniqueFd doorbell,
                         EventLoop::Task deliver_frames, GarbageCallback on_garbage)
    : loop_(loop),
      timeline_(timeline),
      doorbell_(std::move(doorbell)),
      deliver_frames_(std::move(deliver_frames)),
      on_garbage_(std::move(on_garbage)) {}

absl::Status OutputWatch::Start() {
  CELLAR_RETURN_IF_ERROR(loop_.Watch(doorbell_.get(), EPOLLIN, [this](uint32_t) { OnDoorbell(); }));
  CELLAR_RETURN_IF_ERROR(WatchPipe(timeline_.out_fd()));
  return WatchPipe(timeline_.err_fd());
}

absl::Status OutputWatch::WatchPipe(int fd) {
  return loop_.Watch(fd, EPOLLIN, [this, fd](uint32_t events) {
    // Closed by every writer: it would wake the loop for ever.
    if ((events & EPOLLIN) == 0) return loop_.Unwatch(fd);
    Look();
  });
}

void OutputWatch::OnDoorbell() {
  eventfd_t ignored;
  eventfd_read(doorbell_.get(), &ignored);
  if (flows_) return Look();  // the ring is full
  Expect();
}

void OutputWatch::Expect() {
  if (paused_ || stopped_ || std::exchange(flows_, true)) return;
  timer_ = loop_.After(kGathering, [this] { LookAgain(); });
}

void OutputWatch::LookAgain() {
  absl::StatusOr<bool> any = timeline_.Drain([this] { deliver_frames_(); });
  if (!any.ok()) return on_garbage_(any.status());
  if (paused_ || stopped_) return;
  if (!*any && timeline_.PrepareToSleep()) {
    flows_ = false;
    timer_ = 0;
    return;
  }
  timer_ = loop_.After(kEvery, [this] { LookAgain(); });
}

void OutputWatch::Look() {
  if (paused_ || stopped_) return;
  absl::StatusOr<bool> any = timeline_.Drain([this] { deliver_frames_(); });
  if (!any.ok()) on_garbage_(any.status());
}

void OutputWatch::Pause(bool paused) {
  if (paused == paused_ || stopped_) return;
  paused_ = paused;
  loop_.Cancel(timer_);
  flows_ = false;
  // Should every writer close a pipe meanwhile, what is left in it is read with the ring.
  for (int pipe : {timeline_.out_fd(), timeline_.err_fd()}) {
    loop_.Rewatch(pipe, paused ? 0u : EPOLLIN);
  }
  if (!paused) OnDoorbell();
}

void OutputWatch::Stop() {
  if (std::exchange(stopped_, true)) return;
  loop_.Cancel(timer_);
  for (int fd : {doorbell_.get(), timeline_.out_fd(), timeline_.err_fd()}) loop_.Unwatch(fd);
}

}  // namespace cellar::host
