#include "host/library/loop_thread.h"

#include <sys/eventfd.h>

#include <cerrno>
#include <utility>

namespace cellar {
namespace {

// How long the thread stays away after a caller has left: calls in a row then cost no hand-over.
// Nobody runs the loop meanwhile, so this is also how late background output can be.
constexpr std::chrono::milliseconds kLinger(2);

}  // namespace

absl::StatusOr<std::unique_ptr<LoopThread>> LoopThread::Start(EventLoop& loop) {
  UniqueFd dismissal(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!dismissal) return ErrnoStatus(errno, "creating an eventfd");
  CELLAR_RETURN_IF_ERROR(loop.Watch(dismissal.get(), EPOLLIN, [](uint32_t) {}));
  return std::unique_ptr<LoopThread>(new LoopThread(loop, std::move(dismissal)));
}

LoopThread::LoopThread(EventLoop& loop, UniqueFd dismissal)
    : loop_(loop), dismissal_(std::move(dismissal)), thread_([this] { Run(); }) {}

LoopThread::~LoopThread() = default;

void LoopThread::Join() {
  thread_.join();
  std::unique_lock lock(mutex_);
  ended_ = true;
  while (taken_ || waiting_callers_ > 0) {
    // A caller that was about to post its request when the thread ended.
    lock.unlock();
    {
      absl::MutexLock turn(&turn_);
      loop_.RunDue();
    }
    lock.lock();
    changed_.wait_for(lock, kLinger);
  }
}

void LoopThread::Run() noexcept {
  EventLoop::Events events;
  while (true) {
    const uint64_t takeover = WaitForTurn();
    std::optional<absl::Duration> wait;
    {
      absl::MutexLock turn(&turn_);
      wait = loop_.RunDue();
    }
    if (!wait) return;
    loop_.Wait(*wait, events);
    absl::MutexLock turn(&turn_);
    // What happened before a caller came and went is no news: the kernel tells it again if it is.
    if (StillHasTurn(takeover)) loop_.Dispatch(events);
  }
}

uint64_t LoopThread::WaitForTurn() {
  std::unique_lock lock(mutex_);
  while (taken_ || Clock::now() < thread_returns_) {
    const uint64_t takeover = takeovers_;
    const bool in_time = changed_.wait_for(lock, kLinger) == std::cv_status::no_timeout;
    if (in_time || !taken_ || takeover != takeovers_) continue;
    // A long call, not one of many short ones: its end is worth a wake-up.
    thread_asleep_ = true;
    changed_.wait(lock, [this] { return !taken_; });
    thread_asleep_ = false;
  }
  thread_in_loop_ = true;
  return takeovers_;
}

bool LoopThread::StillHasTurn(uint64_t takeover) {
  std::lock_guard lock(mutex_);
  thread_in_loop_ = false;
  if (takeover == takeovers_) return true;
  eventfd_t ignored;
  eventfd_read(dismissal_.get(), &ignored);
  return false;
}

bool LoopThread::Await(EventLoop::Task request, const absl::Notification& answered) {
  const Entry entry = Enter();
  if (entry == Entry::kEnded) return false;
  if (entry == Entry::kRuns) {
    RunUntil(std::move(request), answered);
  } else {
    loop_.Post(std::move(request));
    answered.WaitForNotification();
  }
  Leave(entry);
  return true;
}

LoopThread::Entry LoopThread::Enter() {
  std::lock_guard lock(mutex_);
  if (ended_) return Entry::kEnded;
  if (taken_) {
    ++waiting_callers_;
    return Entry::kWaits;
  }
  taken_ = true;
  ++takeovers_;
  if (thread_in_loop_) eventfd_write(dismissal_.get(), 1);
  return Entry::kRuns;
}

void LoopThread::Leave(Entry entry) {
  std::lock_guard lock(mutex_);
  if (entry == Entry::kWaits) {
    --waiting_callers_;
  } else {
    taken_ = false;
    const bool awaited = waiting_callers_ > 0 || thread_asleep_;
    thread_returns_ = awaited ? Clock::time_point() : Clock::now() + kLinger;
    if (!awaited && !ended_) return;
  }
  changed_.notify_all();
}

void LoopThread::RunUntil(EventLoop::Task request, const absl::Notification& answered) noexcept {
  EventLoop::Events events;
  bool requested = false;
  bool looked = false;
  while (true) {
    std::optional<absl::Duration> wait;
    {
      absl::MutexLock turn(&turn_);
      loop_.Dispatch(events);
      if (!requested) {
        // What this thread posted earlier comes first.
        loop_.RunDue();
        EventLoop::Turn work(loop_);
        request();
        requested = true;
      }
      wait = loop_.RunDue();
    }
    const bool has_answer = answered.HasBeenNotified();
    if (has_answer && looked) return;
    if (!wait) return answered.WaitForNotification();
    // Also when the answer came at once: while such calls follow each other, nobody else looks.
    loop_.Wait(has_answer ? absl::ZeroDuration() : *wait, events);
    looked = true;
  }
}

}  // namespace cellar
