// Where a command has the daemon open a session that is not open yet, and with which variables: its
// own, which say which environment is activated here and what settings are wanted.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "host/runtime/environment.h"
#include "host/session/opening.h"

namespace cellar::host {

// `interpreter` is one that was asked for, or empty.
absl::StatusOr<SessionOpening> OpeningHere(const Environment& env, const std::string& interpreter);
// The same for a session that is opened in another directory.
absl::StatusOr<SessionOpening> OpeningIn(const std::string& cwd, const Environment& env,
                                         const std::string& interpreter);

}  // namespace cellar::host
