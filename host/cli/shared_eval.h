// `cellar eval -s`: one call on a session of the daemon, shown as a call in a host of one's own is.
#pragma once

#include <optional>
#include <string>

#include "host/eval/call.h"
#include "host/runtime/environment.h"
#include "nlohmann/json.hpp"

namespace cellar::host {

struct SharedEvalOptions {
  Environment env;
  std::string interpreter;  // asked for; or empty
  bool json = false;
  bool detach = false;  // leave it running, and say its handle
};

// The exit code.
int RunSharedEval(const Call& call, const SharedEvalOptions& options);

// The exit code of a request that was refused, after a complaint; nothing when it was not.
std::optional<int> RefusalExitCode(const nlohmann::ordered_json& done);

// Prints the result in a call's last frame, and returns the exit code.
int ShowResult(const nlohmann::ordered_json& done, bool json);

}  // namespace cellar::host
