// The variable that a session's worker is asked to bind or to read, between cells, until it
// answers.
//
// Lives on the loop's thread.
#pragma once

#include <cstdint>
#include <optional>

#include "host/base/event_loop.h"
#include "host/session/jobs.h"
#include "host/worker/worker.h"

namespace cellar::host {

class PendingValue {
 public:
  explicit PendingValue(EventLoop& loop) : loop_(loop) {}
  // What is pending is dropped without an answer.
  ~PendingValue() { loop_.Cancel(limit_timer_); }
  PendingValue(const PendingValue&) = delete;

  // Nothing may be pending. `over` is called when the worker has not answered within `limit`.
  void Ask(Worker& worker, ValueJob job, absl::Duration limit, EventLoop::Task over);
  bool pending() const { return job_.has_value(); }
  // Whether this is the answer; one that comes too late is not.
  bool IsAnswer(const wire::Value& value) const { return pending() && value.request == request_; }
  // It is pending no longer.
  ValueJob Take();

 private:
  EventLoop& loop_;
  std::optional<ValueJob> job_;
  uint32_t request_ = 0;  // the number of the last one
  EventLoop::TimerId limit_timer_ = 0;
};

}  // namespace cellar::host
