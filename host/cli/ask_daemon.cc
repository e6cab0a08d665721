#include "host/cli/ask_daemon.h"

#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "host/base/json_text.h"
#include "host/base/status.h"
#include "host/console/complain.h"
#include "host/console/exit_codes.h"
#include "host/console/standard_output.h"
#include "host/console/terminal.h"
#include "host/eval/json_writer.h"
#include "host/runtime/environment.h"
#include "host/serve/dial.h"
#include "host/serve/frame_fields.h"

namespace cellar::host {

using nlohmann::ordered_json;

namespace {

constexpr absl::Duration kWorthTelling = absl::Seconds(1);

}  // namespace

absl::StatusOr<ordered_json> AskDaemon(ordered_json request, std::string_view when_slow) {
  CELLAR_ASSIGN_OR_RETURN(std::unique_ptr<Client> client, DialDaemon(CurrentEnvironment()));
  request["id"] = "1";
  CELLAR_RETURN_IF_ERROR(client->Send(request));
  if (!when_slow.empty() && !client->HasFrameWithin(kWorthTelling)) Complain(when_slow);
  return client->ReceiveLastOf(request);
}

std::string TextOfResult(const ordered_json& done, bool json) {
  const ordered_json result = done.value("result", ordered_json::object());
  if (!json) return TextIn(result, "text");
  JsonWriter writer(IsTerminal(STDOUT_FILENO));
  writer.Json(JsonText(result));
  return writer.Take();
}

int ExitCodeOfResult(const ordered_json& done) {
  const std::string status = TextIn(done, "status");
  return status == "ok" || status == "running" ? kExitFine : kExitFailed;
}

int ShowResult(const ordered_json& done, bool json) {
  if (absl::Status refusal = RefusalIn(done); !refusal.ok()) return ComplainOf(refusal);
  const int lost = WriteOut(TextOfResult(done, json) + "\n");
  return lost != kExitFine ? lost : ExitCodeOfResult(done);
}

}  // namespace cellar::host
