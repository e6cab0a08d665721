#include "host/eval/call.h"

#include <algorithm>
#include <cmath>

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
  const double allowed = seconds == 0          ? 0
                         : std::isnan(seconds) ? kMinTimeout
                                               : std::clamp(seconds, kMinTimeout, kMaxTimeout);
  cell.timeout = absl::Seconds(allowed);
  cell.given_timeout = seconds;
  cell.clamp_note = allowed == seconds
                        ? ""
                        : absl::StrCat("timeout ", seconds, " s was clamped to ", allowed, " s");
}

}  // namespace cellar::host
