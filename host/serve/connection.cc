#include "host/serve/connection.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "host/serve/frame.h"
#include "host/serve/server.h"

namespace cellar::host {
namespace {

template <typename... Kinds>
bool IsOneOf(const Request& request) {
  return (std::holds_alternative<Kinds>(request.what) || ...);
}

// Whether it is answered later. Calls, which are too, look for room themselves; what ends something
// is always heard.
bool TakesRoom(const Request& request) {
  return IsOneOf<ResetRequest, RewindRequest, BranchRequest, SessionsRequest, WaitRequest,
                 QueryRequest, NotebookFileRequest>(request);
}

}  // namespace

Connection::Connection(Server& server, UniqueFd in, UniqueFd out)
    : server_(server),
      stream_(server.loop_, std::move(in), std::move(out), kMaxLineBytes, *this),
      calls_(server.service_, room_),
      watches_(
          {server.loop_, server.registry_, server.service_},
          [this](const std::string& handle) { return calls_.Has(handle); }, Sender()) {}

Connection::~Connection() {
  lifeline_.Cut();
  GiveUp();
}

void Connection::Start() {
  server_.SendHello(*this);
  stream_.Start();
}

void Connection::OnLine(std::string_view line) {
  if (line.find_first_not_of(" \t\r") == line.npos) return;
  RequestId id;
  line_bytes_ = line.size();
  absl::StatusOr<Request> request = ParseRequest(line, id);
  absl::Status status = request.status();
  if (status.ok() && TakesRoom(*request)) status = room_.Check(line_bytes_);
  if (status.ok()) {
    return std::visit([&](auto& what) { Do(id, std::move(what)); }, request->what);
  }
  Send(id == RequestId() ? ProtocolErrorFrame(status) : RefusedFrame(id, status));
}

void Connection::OnLineTooLong() {
  Send(ProtocolErrorFrame(
      absl::InvalidArgumentError(absl::StrCat("a line of more than ", kMaxLineBytes, " bytes"))));
}

void Connection::OnEnd(bool in_a_line) {
  if (in_a_line) {
    Send(ProtocolErrorFrame(absl::InvalidArgumentError("the last line has no end")));
  }
  ended_ = true;
  LeaveIfDone();
}

void Connection::OnGone(const absl::Status& status) {
  const bool has_left = absl::IsCancelled(status) || absl::IsUnavailable(status);
  Leave(has_left ? absl::OkStatus() : status);
}

CallStream::Send Connection::Sender() {
  return [this](const std::string& frame) { Send(frame); };
}

void Connection::Do(const RequestId& id, EvalRequest request) {
  auto stream = CallStream::Create(server_.loop_, request.is_bare, id, Sender());
  absl::Status status = request.refused;
  if (status.ok()) status = CheckStart(id);
  if (status.ok()) status = CheckDirectory(request.call);
  if (!status.ok()) return stream->Finish(status);
  ClientCalls::Running& running = AddCall(id, std::move(stream), request.call.owner);
  CallObserver* observer = running.stream.get();
  if (!request.stream) observer = &running.stream->last_line();
  running.call = server_.service_.Submit(std::move(request.call), observer,
                                         [this, id](const absl::StatusOr<CallResult>& result) {
                                           calls_.Remove(id)->Finish(result);
                                           LeaveIfDone();
                                         });
}

absl::Status Connection::CheckStart(const RequestId& id) const {
  if (!server_.options_.unavailable.ok()) return server_.options_.unavailable;
  if (calls_.Has(id) || watches_.Has(id)) {
    return absl::InvalidArgumentError("id: a call or a watch of that id is under way");
  }
  return room_.Check(line_bytes_);
}

absl::Status Connection::CheckDirectory(const Call& call) const {
  const std::string& cwd = call.enter.empty() ? call.cwd : call.enter;
  if (server_.options_.relative_cwd || cwd.empty() || cwd[0] == '/') return absl::OkStatus();
  return absl::InvalidArgumentError("cwd: expected an absolute path");
}

ClientCalls::Running& Connection::AddCall(const RequestId& id, std::unique_ptr<CallStream> stream,
                                          const std::string& owner) {
  if (!owner.empty() && owners_.insert(owner).second) server_.AddOwner(owner);
  return calls_.Add(id, std::move(stream), line_bytes_);
}

void Connection::Do(const RequestId& id, CancelRequest request) {
  bool is_known = watches_.Cancel(request.call) || calls_.Cancel(request.call);
  if (absl::StatusOr<CallId> named = CallOf(request.handle); !is_known && named.ok()) {
    is_known = server_.service_.Cancel(*named);
  }
  if (is_known) return Send(OkFrame(id));
  Send(RefusedFrame(
      id, absl::NotFoundError(absl::StrCat("no call ", request.call.json, " is under way"))));
}

void Connection::Do(const RequestId& id, WatchRequest request) {
  if (absl::Status status = CheckStart(id); !status.ok()) return Send(RefusedFrame(id, status));
  watches_.Start(id, std::move(request));
}

void Connection::Do(const RequestId& id, WaitRequest request) {
  absl::StatusOr<CallId> call = CallOf(request.handle);
  if (!call.ok()) return Send(RefusedFrame(id, call.status()));
  using Result = absl::StatusOr<CallResult>;
  const auto wait = waits_.insert(waits_.end(), 0);
  *wait =
      server_.service_.Wait(*call, request.limit, Later<Result>([this, id, wait](Result result) {
        waits_.erase(wait);
        Send(result.ok() ? ResultFrame(id, *result) : RefusedFrame(id, result.status()));
      }));
}

void Connection::Do(const RequestId& id, TailRequest request) {
  absl::StatusOr<CallId> call = CallOf(request.handle);
  if (!call.ok()) return Send(RefusedFrame(id, call.status()));
  absl::StatusOr<CallResult> result = server_.service_.Tail(*call);
  Send(result.ok() ? ResultFrame(id, *result) : RefusedFrame(id, result.status()));
}

void Connection::Do(const RequestId& id, HelloRequest request) {
  server_.bridge_.AnnounceInput(*this, request.input);
  server_.registry_.RenewOffers();
  Send(OkFrame(id));
}

void Connection::Do(const RequestId& id, ToolsRequest request) {
  server_.bridge_.Announce(*this, std::move(request.tools), request.budget);
  server_.registry_.RenewOffers();
  Send(OkFrame(id));
}

void Connection::Do(const RequestId&, ReplyRequest request) {
  // A call that nobody waits for any more may have been answered before the client knew.
  (void)server_.bridge_.Reply(*this, request.call, std::move(request.answer));
}

bool Connection::IsCaller(uint64_t call) const { return calls_.CallerOf(call) != nullptr; }

Frame Connection::CallFrame(std::string_view type, const BridgeCall& call) const {
  const ClientCalls::Running* caller = calls_.CallerOf(call.id);
  if (caller != nullptr) caller->stream->FlushText();
  Frame frame(type, caller != nullptr ? caller->id : RequestId());
  frame.Key("call").Number(static_cast<int64_t>(call.id));
  if (const CallId parent = server_.service_.CallerOf(call.id); parent != 0) {
    frame.Key("parent").String(HandleOf(parent));
  }
  frame.Key("session").String(call.session);
  return frame;
}

void Connection::Ask(const BridgeCall& call) {
  Frame frame = CallFrame("call", call);
  frame.Key("name").String(call.name);
  frame.Key("args");
  if (!frame.json().Json(call.args)) frame.json().Null();
  Send(frame.Take());
}

void Connection::AskForInput(const BridgeCall& call, bool hidden) {
  Frame frame = CallFrame("input", call);
  LastLine& line = calls_.CallerOf(call.id)->stream->last_line();
  frame.Key("prompt").String(line.text());
  frame.Key("password").Bool(hidden);
  line.End();
  Send(frame.Take());
}

void Connection::Withdraw(uint64_t call) {
  Frame frame("withdraw", {});
  frame.Key("call").Number(static_cast<int64_t>(call));
  Send(frame.Take());
}

// What is under way is given up; what is in the outbox is still sent.
void Connection::Do(const RequestId&, ExitRequest) {
  GiveUp();
  stream_.StopReading();
  ended_ = true;
  wants_no_more_ = true;
  LeaveIfDone();
}

void Connection::Do(const RequestId& id, ShutdownRequest) {
  Send(OkFrame(id));
  server_.options_.on_shutdown();
}

void Connection::Do(const RequestId& id, HandoverRequest) {
  if (server_.has_sessions()) {
    return Send(RefusedFrame(id, absl::FailedPreconditionError("sessions are open")));
  }
  Do(id, ShutdownRequest{});
}

void Connection::GiveUp() {
  calls_.GiveUp();
  for (WaiterId wait : waits_) server_.service_.StopWaiting(wait);
  for (TicketId reset : resets_) server_.registry_.Withdraw(reset);
  if (server_.bridge_.Forget(*this)) server_.registry_.RenewOffers();
  for (const std::string& owner : std::exchange(owners_, {})) server_.RemoveOwner(owner);
}

// The client has sent its last request, and each has been answered that it wants an answer to, and
// the answers written.
void Connection::LeaveIfDone() {
  if (ended_ && (wants_no_more_ || room_.empty()) && stream_.drained()) Leave();
}

void Connection::Leave(absl::Status why) {
  if (std::exchange(left_, true)) return;
  GiveUp();
  server_.Remove(*this, std::move(why));
}

}  // namespace cellar::host
