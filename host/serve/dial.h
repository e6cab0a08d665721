// Reaching the user's daemon from a command: connects to it, and starts it when there is none.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "host/runtime/environment.h"
#include "host/serve/client.h"

namespace cellar::host {

// NotFound when no daemon is running, DeadlineExceeded when it does not answer.
absl::StatusOr<std::unique_ptr<Client>> DialDaemon(const Environment& env);

// The process of the daemon, whether it answers or not. NotFound when none is running.
absl::StatusOr<UniqueFd> FindDaemon(const Environment& env);

// One is started when none is running, and another in the place of one of another version that
// has no sessions. A daemon of another version that has some is used as it is, if it speaks this
// program's protocol.
absl::StatusOr<std::unique_ptr<Client>> DialOrStartDaemon(const Environment& env);

// How others on a session are told of this process: "eval on pts/3", "eval, process 4711".
std::string ThisClient(const std::string& command);

}  // namespace cellar::host
