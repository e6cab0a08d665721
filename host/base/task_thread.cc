#include "host/base/task_thread.h"

#include <system_error>
#include <utility>

#include "host/base/signal_block.h"

namespace cellar {

TaskThread::~TaskThread() {
  if (!thread_.joinable()) return;
  {
    absl::MutexLock lock(&mutex_);
    ending_ = true;
  }
  thread_.join();
}

void TaskThread::Run(absl::AnyInvocable<void()> task) {
  {
    absl::MutexLock lock(&mutex_);
    tasks_.push_back(std::move(task));
  }
  if (thread_.joinable()) return;
  try {
    SignalBlock block;
    thread_ = std::thread([this] { Work(); });
  } catch (const std::system_error&) {
    // There is no room for a thread; the next task tries again.
  }
  if (thread_.joinable()) return;
  // Better that the caller waits this once than that nobody ever hears of it.
  std::deque<absl::AnyInvocable<void()>> tasks;
  {
    absl::MutexLock lock(&mutex_);
    tasks.swap(tasks_);
  }
  for (absl::AnyInvocable<void()>& here : tasks) here();
}

void TaskThread::Work() {
  while (true) {
    absl::AnyInvocable<void()> task;
    {
      absl::MutexLock lock(&mutex_);
      const auto has_work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        return ending_ || !tasks_.empty();
      };
      mutex_.Await(absl::Condition(&has_work));
      if (ending_) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

}  // namespace cellar
