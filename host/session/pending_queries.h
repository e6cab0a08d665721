// The questions of a session that its worker has not answered yet. A worker answers between cells
// and while a cell awaits; one that runs plain code does not listen, so each question has a limit.
//
// Lives on the loop's thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "host/base/event_loop.h"
#include "host/wire/channel_messages.h"

namespace cellar::host {

// For someone who waits at a prompt while a cell runs, which may not let the worker answer; and
// while none does.
inline constexpr absl::Duration kBusyQueryLimit = absl::Milliseconds(300);
inline constexpr absl::Duration kIdleQueryLimit = absl::Seconds(2);

// JSON as the worker sent it. DeadlineExceeded when the worker is busy.
using QueryCallback = absl::AnyInvocable<void(absl::StatusOr<std::string>)>;

class PendingQueries {
 public:
  explicit PendingQueries(EventLoop& loop) : loop_(loop) {}
  // What is pending is dropped without an answer.
  ~PendingQueries();
  PendingQueries(const PendingQueries&) = delete;

  // True while a question is past its limit: more of them would only pile up behind it.
  bool stalled() const { return overdue_ > 0; }

  // The number to send the question with. `done` is called once, within the limit.
  uint32_t Add(absl::Duration limit, QueryCallback done);
  void Answer(wire::QueryAnswer answer);
  // The worker is gone.
  void FailAll(const absl::Status& status);

  static absl::Status Busy();

 private:
  struct Pending {
    QueryCallback done;  // empty once it is overdue
    EventLoop::TimerId timer = 0;
  };

  void OnLimit(uint32_t request);

  EventLoop& loop_;
  std::map<uint32_t, Pending> pending_;
  uint32_t next_request_ = 1;
  int overdue_ = 0;
};

}  // namespace cellar::host
