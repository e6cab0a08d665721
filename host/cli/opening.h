// Where a command has the daemon open a session that is not open yet, and with which environment:
// the one that is activated here.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "host/runtime/environment.h"

namespace cellar::host {

struct Opening {
  std::string cwd;
  std::string interpreter;           // its executable; empty: whichever the daemon finds there
  std::vector<std::string> notices;  // about the choice, for the first cell
};

// `interpreter` is one that was asked for, or empty.
absl::StatusOr<Opening> OpeningHere(const Environment& env, const std::string& interpreter);
// The same for a session that is opened in another directory.
absl::StatusOr<Opening> OpeningIn(const std::string& cwd, const Environment& env,
                                  const std::string& interpreter);

}  // namespace cellar::host
