// Where a command has the daemon open a session that is not open yet: here, and with the
// environment that is activated here.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "host/runtime/environment.h"

namespace cellar::host {

struct Opening {
  std::string cwd;
  std::string interpreter;  // its executable; empty: whichever the daemon finds there
};

// `interpreter` is one that was asked for, or empty.
absl::StatusOr<Opening> OpeningHere(const Environment& env, const std::string& interpreter);

}  // namespace cellar::host
