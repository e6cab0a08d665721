// A duration as people and models read it.
#pragma once

#include <string>

#include "absl/time/time.h"

namespace cellar::host {

// "0.24 s", "3.2 s", "2 min 5 s".
std::string SpokenDuration(absl::Duration duration);

// "timed out after 1 second", "timed out after 0.5 seconds": what a result says of a time-out.
std::string TimedOutAfter(absl::Duration timeout);

}  // namespace cellar::host
