#include "host/eval/call.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "host/eval/call_fields.h"

namespace cellar::host {

absl::Status ValidateCell(const CallCell& cell, size_t index) {
  if (const std::string problem = ProblemOfCode(cell.code); !problem.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("cell ", index + 1, " ", problem));
  }
  return absl::OkStatus();
}

void SetTimeout(double seconds, CallCell& cell) {
  ClampedTimeout clamped = ClampTimeout(seconds);
  cell.timeout = clamped.timeout;
  cell.given_timeout = seconds;
  cell.clamp_note = std::move(clamped.note);
}

}  // namespace cellar::host
