#include "host/session/pending_queries.h"

#include <utility>

namespace cellar::host {

PendingQueries::~PendingQueries() {
  for (auto& [request, pending] : pending_) loop_.Cancel(pending.timer);
}

uint32_t PendingQueries::Add(absl::Duration limit, QueryCallback done) {
  uint32_t request = next_request_++;
  pending_[request] = {.done = std::move(done),
                       .timer = loop_.After(limit, [this, request] { OnLimit(request); })};
  return request;
}

void PendingQueries::Answer(wire::QueryAnswer answer) {
  auto found = pending_.find(answer.request);
  if (found == pending_.end()) return;
  Pending pending = std::move(found->second);
  pending_.erase(found);
  if (!pending.done) {
    --overdue_;
    return;
  }
  loop_.Cancel(pending.timer);
  if (answer.ok) {
    pending.done(std::move(answer.data));
  } else {
    pending.done(absl::InternalError(answer.data));
  }
}

void PendingQueries::FailAll(const absl::Status& status) {
  overdue_ = 0;
  std::map<uint32_t, Pending> failed;
  failed.swap(pending_);
  for (auto& [request, pending] : failed) {
    if (!pending.done) continue;
    loop_.Cancel(pending.timer);
    pending.done(status);
  }
}

absl::Status PendingQueries::Busy() {
  return absl::DeadlineExceededError(
      "busy: no answer in time, most likely because of what a cell does or has started");
}

void PendingQueries::OnLimit(uint32_t request) {
  ++overdue_;
  // Stays until the worker has answered after all.
  std::exchange(pending_[request].done, nullptr)(Busy());
}

}  // namespace cellar::host
