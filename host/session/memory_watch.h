// Looks at the memory of sessions once a second, and ends the worker of one that uses more than its
// cap. Lives on the loop's thread; measures on a thread of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "host/base/event_loop.h"
#include "host/base/lifeline.h"
#include "host/base/task_thread.h"
#include "host/session/session.h"

namespace cellar::host {

class MemoryWatch {
 public:
  // Calls its argument with each session that is open.
  using ForEachSession = std::function<void(absl::FunctionRef<void(Session&)>)>;

  MemoryWatch(EventLoop& loop, ForEachSession for_each);
  ~MemoryWatch();
  MemoryWatch(const MemoryWatch&) = delete;

  // A session was opened: from now on it is looked at, if it has a cap. Without caps there is no
  // timer.
  void Add(const Session& session);

  // The sizes of those workers, and perhaps of others.
  using MeasureCallback = absl::AnyInvocable<void(const std::map<pid_t, uint64_t>& sizes)>;
  // See SessionMemory(). `done` is posted, unless the watch is gone by then.
  void Measure(const std::vector<pid_t>& workers, MeasureCallback done);

 private:
  void MeasureAsked();
  void LookLater();
  void Check(const std::map<pid_t, uint64_t>& sizes);

  EventLoop& loop_;
  ForEachSession for_each_;
  bool is_watching_ = false;
  bool is_measuring_ = false;
  std::set<pid_t> asked_workers_;  // for the next look
  std::vector<MeasureCallback> asked_;
  EventLoop::TimerId timer_ = 0;
  Lifeline lifeline_;
  TaskThread thread_;
};

}  // namespace cellar::host
