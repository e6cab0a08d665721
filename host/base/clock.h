// Time that only goes forward, whatever happens to the clock of the system: for deadlines and for
// how long something took. Not a date. And the time that the calling thread has computed.
#pragma once

#include <ctime>

#include "absl/time/time.h"

namespace cellar {

inline absl::Time MonotonicNow() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return absl::TimeFromTimespec(now);
}

inline absl::Duration ThreadCpuTime() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return absl::DurationFromTimespec(now);
}

}  // namespace cellar
