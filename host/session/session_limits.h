// How many sessions a registry keeps open, and how many calls may wait for one.
#pragma once

#include <cstddef>

#include "host/runtime/settings.h"

namespace cellar::host {

struct SessionLimits {
  size_t max_sessions = 256;
  size_t max_waiting = 20'000;  // calls that wait for one session
};

inline SessionLimits LimitsFrom(const Settings& settings) {
  return {.max_sessions = static_cast<size_t>(settings.max_sessions),
          .max_waiting = static_cast<size_t>(settings.max_waiting_calls)};
}

}  // namespace cellar::host
