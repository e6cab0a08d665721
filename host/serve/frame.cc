#include "host/serve/frame.h"

#include "host/eval/result_json.h"

namespace cellar::host {
namespace {

void WriteMessage(std::string_view ename, const absl::Status& status, JsonWriter& json) {
  json.Key("ename").String(ename);
  json.Key("evalue").String(std::string(status.message()));
}

}  // namespace

Frame::Frame(std::string_view type, const RequestId& id) {
  json_.BeginObject().Key("type").String(type);
  json_.Key("id").Token(id.json);
}

std::string Frame::Take() {
  json_.EndObject();
  return json_.Take() + '\n';
}

std::string_view RefusalName(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      return "InvalidRequest";
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kOutOfRange:
      return "NotFound";
    case absl::StatusCode::kFailedPrecondition:
      return "SessionRefused";
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kAlreadyExists:
      return "Conflict";
    case absl::StatusCode::kCancelled:
      return "Cancelled";
    case absl::StatusCode::kDeadlineExceeded:
      return "Busy";
    default:
      return "CannotRun";
  }
}

Frame BeginDone(const RequestId& id, std::string_view status) {
  Frame frame("done", id);
  frame.Key("status").String(status);
  return frame;
}

std::string RefusedFrame(const RequestId& id, const absl::Status& status) {
  Frame frame = BeginDone(id, "refused");
  frame.Key("error").BeginObject();
  WriteMessage(RefusalName(status), status, frame.json());
  frame.json().EndObject();
  return frame.Take();
}

std::string OkFrame(const RequestId& id) { return BeginDone(id, "ok").Take(); }

std::string ResultFrame(const RequestId& id, const CallResult& result) {
  Frame frame = BeginDone(id, NameOf(result.status));
  frame.Key("result");
  WriteResult(result, frame.json());
  return frame.Take();
}

std::string ProtocolErrorFrame(const absl::Status& status) {
  Frame frame("error", {});
  WriteMessage(kProtocolError, status, frame.json());
  frame.Key("traceback").BeginArray().EndArray();
  return frame.Take();
}

}  // namespace cellar::host
