// One request to the daemon, for commands about what it holds.
#pragma once

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace cellar::host {

// The last frame of the answer; NotFound when no daemon runs: without one there is nothing these
// commands could be about.
absl::StatusOr<nlohmann::ordered_json> AskDaemon(nlohmann::ordered_json request);

// Of a command that got no answer, after a complaint.
int ExitCodeOf(const absl::Status& status);

}  // namespace cellar::host
