#include "host/serve/frame_fields.h"

#include "absl/strings/str_cat.h"
#include "host/base/json_text.h"
#include "host/serve/request.h"

namespace cellar::host {

using nlohmann::ordered_json;

std::string TextIn(const ordered_json& frame, const char* name) {
  auto found = frame.find(name);
  return found != frame.end() && found->is_string() ? found->get<std::string>() : "";
}

int64_t NumberIn(const ordered_json& frame, const char* name) {
  auto found = frame.find(name);
  return found != frame.end() && found->is_number() ? found->get<int64_t>() : 0;
}

bool FlagIn(const ordered_json& frame, const char* name) {
  auto found = frame.find(name);
  return found != frame.end() && *found == true;
}

ordered_json ObjectIn(const ordered_json& frame, const char* name) {
  auto found = frame.find(name);
  return found != frame.end() && found->is_object() ? *found : ordered_json::object();
}

absl::Status ProtocolErrorIn(const ordered_json& frame) {
  if (TextIn(frame, "ename") != kProtocolError || TextIn(frame, "type") != "error" ||
      !TextIn(frame, "id").empty()) {
    return absl::OkStatus();
  }
  return absl::InternalError(
      absl::StrCat("the daemon could not read a request: ", TextIn(frame, "evalue")));
}

absl::Status RefusalIn(const ordered_json& done) {
  if (TextIn(done, "status") != "refused") return absl::OkStatus();
  const ordered_json error = ObjectIn(done, "error");
  const std::string ename = TextIn(error, "ename");
  const std::string message = TextIn(error, "evalue");
  if (ename == "CannotRun") return absl::UnavailableError(message);
  if (ename == "Cancelled") return absl::CancelledError(message);
  return absl::FailedPreconditionError(message);
}

void AddOpening(const SessionOpening& opening, ordered_json& request) {
  request["opening_cwd"] = opening.cwd;
  request["opening_interpreter"] = opening.interpreter;
  if (opening.env) request["opening_env"] = *opening.env;
}

absl::StatusOr<std::string> LineOf(const ordered_json& request) {
  std::string line = JsonText(request);
  if (line.size() > kMaxLineBytes) {
    return absl::InvalidArgumentError(absl::StrCat("the request has ", line.size(),
                                                   " bytes as JSON, and may have ", kMaxLineBytes));
  }
  return line + "\n";
}

}  // namespace cellar::host
