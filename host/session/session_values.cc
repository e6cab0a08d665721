// The part of a session that binds and reads variables for the host, between cells.
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/session/session.h"

namespace cellar::host {

void Session::Start(ValueJob job) {
  // What cells have left may hold the worker's loop for ever. The next cell has means against that,
  // and must get its turn.
  value_.Ask(*worker_, std::move(job), options_.value_limit, [this] {
    value_.Take().done(absl::DeadlineExceededError(absl::StrCat(
        "the worker gave no answer within ", absl::FormatDuration(options_.value_limit),
        ": something that cells have left keeps it busy")));
    Pump();
  });
  ExpectBegin();
}

void Session::OnValue(wire::Value value) {
  if (!value_.IsAnswer(value)) return;
  ValueJob job = value_.Take();
  if (std::holds_alternative<wire::Set>(job.message)) snapshots_.OnValueSet();
  had_cells_ = true;
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
  Pump();
}

}  // namespace cellar::host
