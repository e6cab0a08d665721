// Who runs a Host's loop. A thread of its own does as long as nobody waits for an answer; a thread
// that makes a blocking call runs the loop itself until it has its answer. Else each cell would be
// handed to the loop's thread and its outcome back, which costs as much as the cell.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "host/base/event_loop.h"

namespace cellar {

class LoopThread {
 public:
  static absl::StatusOr<std::unique_ptr<LoopThread>> Start(EventLoop& loop);
  // After Join().
  ~LoopThread();

  // Does `request` on the loop, and returns when `answered` has been notified. False, with nothing
  // done, when the loop has ended. Not on the loop's thread.
  bool Await(EventLoop::Task request, const absl::Notification& answered);

  // Returns when the loop, which someone stops, has ended and no thread runs it.
  void Join();

 private:
  explicit LoopThread(EventLoop& loop, UniqueFd dismissal);

  // These two run the loop, and with it callbacks of the user's. One that throws would leave a loop
  // with half of its tasks done and answers owed to callers that are gone: the program ends.
  void Run() noexcept;
  void RunUntil(EventLoop::Task request, const absl::Notification& answered) noexcept;

  // The thread.
  uint64_t WaitForTurn();
  bool StillHasTurn(uint64_t takeover);

  // A caller.
  enum class Entry { kRuns, kWaits, kEnded };
  Entry Enter();
  void Leave(Entry entry);

  EventLoop& loop_;
  UniqueFd dismissal_;  // eventfd, watched by the loop: calls the thread out of its wait for events
  absl::Mutex turn_;    // held while callbacks run

  using Clock = std::chrono::steady_clock;

  // Of the standard library, because abseil's wait for a time of the system's clock, which may be
  // set back. Guards what follows.
  std::mutex mutex_;
  std::condition_variable changed_;
  bool taken_ = false;       // a caller runs the loop
  uint64_t takeovers_ = 0;   // so far
  int waiting_callers_ = 0;  // those that found it taken
  bool thread_in_loop_ = false;
  bool thread_asleep_ = false;  // until changed_, however long
  Clock::time_point thread_returns_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace cellar
