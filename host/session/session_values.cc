// The part of a session that binds and reads variables for the host, between cells.
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/session/session.h"

namespace cellar::host {

void Session::Start(ValueJob job) {
  running_value_ = std::move(job);
  ExpectBegin();
  std::visit(
      [this](auto& message) {
        message.request = ++last_value_request_;
        worker_->Send(message);
      },
      running_value_->message);
  // What cells have left may hold the worker's loop for ever. The next cell has means against that,
  // and must get its turn.
  value_timer_ = loop_.After(options_.value_limit, [this] {
    TakeRunningValue().done(absl::DeadlineExceededError(absl::StrCat(
        "the worker gave no answer within ", absl::FormatDuration(options_.value_limit),
        ": something that cells have left keeps it busy")));
    Pump();
  });
}

void Session::OnValue(wire::Value value) {
  // Another one has come too late.
  if (!running_value_ || value.request != last_value_request_) return;
  ValueJob job = TakeRunningValue();
  if (std::holds_alternative<wire::Set>(job.message)) snapshots_.OnValueSet();
  switch (value.kind) {
    case wire::ValueKind::kFailed:
      job.done(absl::InvalidArgumentError(value.data));
      break;
    case wire::ValueKind::kAbsent:
      job.done(std::nullopt);
      break;
    default:
      job.done(SessionValue{.is_json = value.kind == wire::ValueKind::kJson,
                            .data = std::move(value.data)});
  }
  had_cells_ = true;
  Pump();
}

Session::ValueJob Session::TakeRunningValue() {
  loop_.Cancel(value_timer_);
  return *std::exchange(running_value_, std::nullopt);
}

}  // namespace cellar::host
