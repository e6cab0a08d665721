#include "host/base/task_thread.h"

#include <pthread.h>

#include <csignal>
#include <system_error>
#include <utility>

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
  // The program's signals are for its own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { Work(); });
  } catch (const std::system_error&) {
    // There is no room for a thread; the next task tries again.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
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
