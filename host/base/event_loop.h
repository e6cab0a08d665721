// The host's one loop: file descriptors, timers, and work posted from other threads. The only epoll
// in the program.
//
// Everything that lives on a loop is touched on the loop's thread only; Post() and Stop() are the
// two calls any thread may make. Callbacks may watch, unwatch and cancel freely, also their own
// registration.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "host/base/status.h"
#include "host/base/unique_fd.h"

namespace cellar {

class EventLoop {
 public:
  using Task = absl::AnyInvocable<void()>;
  using FdCallback = absl::AnyInvocable<void(uint32_t events)>;
  using TimerId = uint64_t;  // 0 is never a timer

  static absl::StatusOr<std::unique_ptr<EventLoop>> Create();
  EventLoop(const EventLoop&) = delete;

  // Level-triggered; `events` are EPOLL* bits. One watch per descriptor; the descriptor is borrowed
  // and must be unwatched before it is closed.
  absl::Status Watch(int fd, uint32_t events, FdCallback callback);
  void Unwatch(int fd);

  TimerId After(absl::Duration delay, Task task);
  void Cancel(TimerId id);

  // Runs `task` on the loop's thread, in order of posting. Any thread.
  void Post(Task task);

  // Runs until Stop(). The calling thread becomes the loop's thread.
  void Run();
  // Any thread. Work posted before it is still done.
  void Stop();

  bool OnLoopThread() const { return std::this_thread::get_id() == thread_; }

 private:
  struct WatchEntry {
    uint32_t generation;
    FdCallback callback;
  };
  using Deadline = std::pair<int64_t, TimerId>;  // monotonic nanoseconds, id

  EventLoop(UniqueFd epoll, UniqueFd wake) : epoll_(std::move(epoll)), wake_(std::move(wake)) {}

  void Dispatch(uint64_t key, uint32_t events);
  void RunPosted();
  void RunDueTimers();

  UniqueFd epoll_;
  UniqueFd wake_;  // eventfd, written by Post
  std::atomic<std::thread::id> thread_;
  bool running_ = false;

  // Events of one epoll_wait batch may name a descriptor that an earlier callback of the batch
  // closed and a later one opened anew: the generation tells them apart.
  uint32_t next_generation_ = 1;
  std::unordered_map<int, std::shared_ptr<WatchEntry>> watches_;

  TimerId next_timer_ = 1;
  std::map<Deadline, Task> timers_;
  std::unordered_map<TimerId, int64_t> timer_deadlines_;

  absl::Mutex mutex_;
  std::vector<Task> posted_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cellar
