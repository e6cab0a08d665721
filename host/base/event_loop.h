// The host's one loop: file descriptors, timers, and work posted from other threads. The only epoll
// in the program.
//
// Everything that lives on a loop is touched on the loop's thread only; Post() and Stop() are the
// two calls any thread may make. Callbacks may watch, unwatch and cancel freely, also their own
// registration. Threads may take turns at being the loop's thread: host/library/loop_thread.h.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
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
  // Other events from now on. Unlike Watch() it needs nothing that may be short, so it cannot fail;
  // what is not watched stays so.
  void Rewatch(int fd, uint32_t events);
  void Unwatch(int fd);

  TimerId After(absl::Duration delay, Task task);
  void Cancel(TimerId id);

  // An event will most likely come within that time: the next wait looks for it before it sleeps.
  void ExpectWithin(absl::Duration time) { expected_within_ = absl::ToInt64Nanoseconds(time); }

  // Runs `task` on the loop's thread, in order of posting. Any thread.
  void Post(Task task);

  // Runs until Stop(). The calling thread becomes the loop's thread.
  void Run();
  // Any thread. Work posted before it is still done.
  void Stop();

  // For as long as it lives, the calling thread is the loop's. Made by the loop around callbacks,
  // and by one who does work of the loop outside of them.
  class Turn {
   public:
    explicit Turn(EventLoop& loop) : loop_(loop) { loop_.thread_ = std::this_thread::get_id(); }
    ~Turn() { loop_.thread_ = std::thread::id(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    EventLoop& loop_;
  };
  bool OnLoopThread() const { return std::this_thread::get_id() == thread_; }

  // What Run() repeats, step by step. The first and the last step are a turn: one thread at a time
  // may have it. Wait() touches nothing but the kernel.
  struct Events {
    std::array<epoll_event, 64> list;
    int count = 0;
  };
  // Does what was posted and what is due. Returns how long to wait for events; nothing after
  // Stop().
  std::optional<absl::Duration> RunDue();
  void Wait(absl::Duration limit, Events& events);
  void Dispatch(const Events& events);

 private:
  struct WatchEntry {
    uint32_t generation;
    FdCallback callback;
  };
  using Deadline = std::pair<int64_t, TimerId>;  // monotonic nanoseconds, id

  EventLoop(UniqueFd epoll, UniqueFd wake) : epoll_(std::move(epoll)), wake_(std::move(wake)) {}

  void DispatchOne(uint64_t key, uint32_t events);
  void RunPosted();
  void RunDueTimers();

  UniqueFd epoll_;
  UniqueFd wake_;  // eventfd, written by Post
  std::atomic<std::thread::id> thread_;
  bool stopped_ = false;
  std::atomic<int64_t> expected_within_ = 0;  // nanoseconds

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
