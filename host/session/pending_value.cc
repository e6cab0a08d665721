#include "host/session/pending_value.h"

#include <utility>

namespace cellar::host {

void PendingValue::Ask(Worker& worker, ValueJob job, absl::Duration limit, EventLoop::Task over) {
  job_ = std::move(job);
  std::visit(
      [&](auto& message) {
        message.request = ++request_;
        worker.Send(message);
      },
      job_->message);
  limit_timer_ = loop_.After(limit, std::move(over));
}

ValueJob PendingValue::Take() {
  loop_.Cancel(limit_timer_);
  return *std::exchange(job_, std::nullopt);
}

}  // namespace cellar::host
