#include "host/base/event_loop.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <limits>

#include "host/base/brief_look.h"

namespace cellar {
namespace {

int64_t MonotonicNanos() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

uint64_t KeyOf(int fd, uint32_t generation) {
  return uint64_t{generation} << 32 | static_cast<uint32_t>(fd);
}

}  // namespace

absl::StatusOr<std::unique_ptr<EventLoop>> EventLoop::Create() {
  UniqueFd epoll(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return ErrnoStatus(errno, "creating an epoll object");
  UniqueFd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return ErrnoStatus(errno, "creating an eventfd");
  epoll_event event = {.events = EPOLLIN, .data = {.u64 = KeyOf(wake.get(), 0)}};
  if (epoll_ctl(epoll.get(), EPOLL_CTL_ADD, wake.get(), &event) != 0) {
    return ErrnoStatus(errno, "watching an eventfd");
  }
  return std::unique_ptr<EventLoop>(new EventLoop(std::move(epoll), std::move(wake)));
}

absl::Status EventLoop::Watch(int fd, uint32_t events, FdCallback callback) {
  auto entry = std::make_shared<WatchEntry>(WatchEntry{next_generation_++, std::move(callback)});
  epoll_event event = {.events = events, .data = {.u64 = KeyOf(fd, entry->generation)}};
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    return ErrnoStatus(errno, "watching a file descriptor");
  }
  watches_[fd] = std::move(entry);
  return absl::OkStatus();
}

void EventLoop::Rewatch(int fd, uint32_t events) {
  auto found = watches_.find(fd);
  if (found == watches_.end()) return;
  epoll_event event = {.events = events, .data = {.u64 = KeyOf(fd, found->second->generation)}};
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

void EventLoop::Unwatch(int fd) {
  if (watches_.erase(fd) > 0) epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

EventLoop::TimerId EventLoop::After(absl::Duration delay, Task task) {
  TimerId id = next_timer_++;
  const int64_t now = MonotonicNanos();
  // An endless delay, and what is as good as one, would wrap around.
  const int64_t deadline =
      now + std::min(absl::ToInt64Nanoseconds(delay), std::numeric_limits<int64_t>::max() - now);
  timers_.emplace(Deadline{deadline, id}, std::move(task));
  timer_deadlines_.emplace(id, deadline);
  return id;
}

void EventLoop::Cancel(TimerId id) {
  auto found = timer_deadlines_.find(id);
  if (found == timer_deadlines_.end()) return;
  timers_.erase(Deadline{found->second, id});
  timer_deadlines_.erase(found);
}

void EventLoop::Post(Task task) {
  bool was_empty;
  {
    absl::MutexLock lock(&mutex_);
    was_empty = posted_.empty();
    posted_.push_back(std::move(task));
  }
  // The loop empties the queue in one go, so one wake-up serves all that was posted since.
  if (was_empty && !OnLoopThread()) eventfd_write(wake_.get(), 1);
}

void EventLoop::Stop() {
  Post([this] { stopped_ = true; });
}

void EventLoop::Run() {
  stopped_ = false;
  Events events;
  while (std::optional<absl::Duration> wait = RunDue()) {
    Wait(*wait, events);
    Dispatch(events);
  }
}

std::optional<absl::Duration> EventLoop::RunDue() {
  Turn turn(*this);
  RunPosted();
  RunDueTimers();
  if (stopped_) return std::nullopt;
  {
    absl::MutexLock lock(&mutex_);
    if (!posted_.empty()) return absl::ZeroDuration();
  }
  if (timers_.empty()) return absl::InfiniteDuration();
  int64_t wait = timers_.begin()->first.first - MonotonicNanos();
  return absl::Nanoseconds(std::max<int64_t>(wait, 0));
}

void EventLoop::Wait(absl::Duration limit, Events& events) {
  const absl::Duration expected = absl::Nanoseconds(expected_within_.exchange(0));
  auto wait = [&](absl::Duration at_most) {
    timespec timeout = absl::ToTimespec(at_most);
    timespec* timeout_or_forever = at_most == absl::InfiniteDuration() ? nullptr : &timeout;
    events.count = std::max(0, epoll_pwait2(epoll_.get(), events.list.data(), events.list.size(),
                                            timeout_or_forever, nullptr));
    return events.count > 0;
  };
  const bool looked = expected > absl::ZeroDuration();
  if (looked &&
      LookBriefly(std::min(limit, expected), [&] { return wait(absl::ZeroDuration()); })) {
    return;
  }
  wait(limit);
}

void EventLoop::Dispatch(const Events& events) {
  Turn turn(*this);
  for (int i = 0; i < events.count; ++i) {
    DispatchOne(events.list[i].data.u64, events.list[i].events);
  }
}

void EventLoop::DispatchOne(uint64_t key, uint32_t events) {
  int fd = static_cast<int>(key & 0xffffffff);
  uint32_t generation = static_cast<uint32_t>(key >> 32);
  if (generation == 0) {
    eventfd_t ignored;
    eventfd_read(wake_.get(), &ignored);
    RunPosted();
    return;
  }
  auto found = watches_.find(fd);
  if (found == watches_.end() || found->second->generation != generation) return;
  std::shared_ptr<WatchEntry> entry = found->second;  // the callback may unwatch itself
  entry->callback(events);
}

void EventLoop::RunPosted() {
  std::vector<Task> tasks;
  {
    absl::MutexLock lock(&mutex_);
    tasks.swap(posted_);
  }
  for (Task& task : tasks) task();
}

void EventLoop::RunDueTimers() {
  if (timers_.empty()) return;
  int64_t now = MonotonicNanos();
  while (!timers_.empty() && timers_.begin()->first.first <= now) {
    auto due = timers_.extract(timers_.begin());
    timer_deadlines_.erase(due.key().second);
    due.mapped()();
  }
}

}  // namespace cellar
