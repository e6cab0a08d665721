#include "host/output/spoken_duration.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace cellar::host {

std::string SpokenDuration(absl::Duration duration) {
  const double seconds = absl::ToDoubleSeconds(duration);
  if (seconds < 1) return absl::StrFormat("%.2f s", seconds);
  if (seconds < 60) return absl::StrFormat("%.1f s", seconds);
  const int64_t whole = absl::ToInt64Seconds(duration);
  return absl::StrCat(whole / 60, " min ", whole % 60, " s");
}

std::string TimedOutAfter(absl::Duration timeout) {
  const double seconds = absl::ToDoubleSeconds(timeout);
  return absl::StrCat("timed out after ", seconds, seconds == 1 ? " second" : " seconds");
}

}  // namespace cellar::host
