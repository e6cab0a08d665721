#include "host/cli/ask_daemon.h"

#include <memory>
#include <utility>

#include "host/base/status.h"
#include "host/console/complain.h"
#include "host/console/exit_codes.h"
#include "host/runtime/environment.h"
#include "host/serve/dial.h"

namespace cellar::host {

using nlohmann::ordered_json;

absl::StatusOr<ordered_json> AskDaemon(ordered_json request) {
  CELLAR_ASSIGN_OR_RETURN(std::unique_ptr<Client> client, DialDaemon(CurrentEnvironment()));
  request["id"] = "1";
  return client->Ask(request);
}

int ExitCodeOf(const absl::Status& status) {
  Complain(status);
  return absl::IsNotFound(status) ? kExitUsage : kExitCannotRun;
}

}  // namespace cellar::host
