// One request to the daemon, for commands about what it holds, and what its answer means to a
// person.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace cellar::host {

// The last frame of the answer; NotFound when no daemon runs: without one there is nothing these
// commands could be about.
// `when_slow` is complained about once if the answer takes longer than a second.
absl::StatusOr<nlohmann::ordered_json> AskDaemon(nlohmann::ordered_json request,
                                                 std::string_view when_slow = {});

// The result in a call's last frame, as it is printed, and what it means for the exit code.
std::string TextOfResult(const nlohmann::ordered_json& done, bool json);
int ExitCodeOfResult(const nlohmann::ordered_json& done);
// Prints it, unless the call was refused; the exit code.
int ShowResult(const nlohmann::ordered_json& done, bool json);

}  // namespace cellar::host
