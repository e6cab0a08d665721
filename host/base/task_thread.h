// One thread that runs tasks in their order: for work that may block, which the loop's thread must
// not do. It is started by the first task; where it cannot be, the caller runs the task.
#pragma once

#include <deque>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/synchronization/mutex.h"

namespace cellar {

class TaskThread {
 public:
  TaskThread() = default;
  // Waits for the task under way; those behind it are dropped.
  ~TaskThread();
  TaskThread(const TaskThread&) = delete;

  void Run(absl::AnyInvocable<void()> task);

 private:
  void Work();

  absl::Mutex mutex_;
  std::deque<absl::AnyInvocable<void()>> tasks_ ABSL_GUARDED_BY(mutex_);
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace cellar
