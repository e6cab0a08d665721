// One line of a client, read: what it asks for. Runs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "host/bridge/provider.h"
#include "host/eval/call.h"
#include "host/eval/call_fields.h"
#include "host/serve/notebook_request.h"

namespace cellar::host {

// A line may be as long as the longest call, and the words around it.
inline constexpr size_t kMaxLineBytes = kMaxRequestBytes + (1u << 20);

// The name of the error for a line that is no request.
inline constexpr char kProtocolError[] = "ProtocolError";

// As the client wrote it: a JSON string or whole number.
struct RequestId {
  std::string json = "\"\"";

  auto operator<=>(const RequestId&) const = default;
};

struct EvalRequest {
  Call call;
  // Asked for as the runner of old is: {"id", "code"}. Its frames have the names that runner gave
  // them.
  bool is_bare = false;
  absl::Status refused;  // why a bare one is, which is told in those frames too
  bool stream = true;    // false: nothing but the last frame
};
// Of an eval or a watch under way on this connection, by its id, or of any call, by its handle.
struct CancelRequest {
  RequestId call;
  std::string handle;
};
struct ResetRequest {
  std::string session;
};
struct InterruptRequest {
  std::string session;
};
// To before a cell that a kept snapshot stands before; without one, to before the last.
struct RewindRequest {
  std::string session;
  std::optional<uint32_t> cell;
};
// As `new_session`, from where a session stands, or from before a cell.
struct BranchRequest {
  std::string session;
  std::string new_session;
  std::optional<uint32_t> cell;
};
struct CloseRequest {
  std::string session;
};
struct SessionsRequest {};
// To be told of all that happens on a session, which is opened if it is not. Ends when it is
// cancelled.
struct WatchRequest {
  std::string session;
  SessionOpening opening;
};
struct WaitRequest {
  std::string handle;
  absl::Duration limit = absl::Seconds(kMaxBackgroundAfter);
};
struct TailRequest {
  std::string handle;
};
// About a text that a person types; answered at once, also while a cell awaits.
struct QueryRequest {
  std::string session;
  wire::Query query;
};
// Who the client is.
struct HelloRequest {
  bool input = false;  // has somebody whom input() can ask
};
// What the client answers when cells call it.
struct ToolsRequest {
  std::vector<BridgeTool> tools;
  BridgeBudget budget;
};
// An answer to a `call` or `input` frame. Has no id, and no answer itself.
struct ReplyRequest {
  uint64_t call = 0;
  BridgeAnswer answer;
};
// Ends this connection. The others end the server: at once, or if it has no sessions.
struct ExitRequest {};
struct ShutdownRequest {};
struct HandoverRequest {};

struct Request {
  RequestId id;
  std::variant<EvalRequest, CancelRequest, ResetRequest, InterruptRequest, RewindRequest,
               BranchRequest, CloseRequest, SessionsRequest, WatchRequest, WaitRequest, TailRequest,
               QueryRequest, HelloRequest, ToolsRequest, ReplyRequest, NotebookFileRequest,
               NotebookSessionRun, ExitRequest, ShutdownRequest, HandoverRequest>
      what;
};

// The names of all requests, for the hello.
std::vector<std::string_view> RequestNames();

// An InvalidArgument says what is wrong; `id` is then what the line says it is, if that can be
// told.
absl::StatusOr<Request> ParseRequest(std::string_view line, RequestId& id);

}  // namespace cellar::host
