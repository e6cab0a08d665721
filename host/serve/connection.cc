#include "host/serve/connection.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "host/base/clock.h"
#include "host/serve/frame.h"
#include "host/serve/server.h"

namespace cellar::host {
namespace {

// What one client may have under way.
constexpr size_t kMaxCalls = 1024;
constexpr size_t kMaxCallBytes = size_t{256} << 20;
constexpr size_t kMaxWatches = 16;

absl::Status NoSuchSession(const std::string& session) {
  return absl::NotFoundError(absl::StrCat("there is no session \"", session, "\""));
}

void WriteSession(const SessionInfo& info, JsonWriter& json) {
  json.BeginObject();
  json.Key("id").String(info.key.id);
  json.Key("cwd").String(info.key.cwd);
  json.Key("interpreter").String(info.key.interpreter);
  json.Key("busy").Bool(info.busy);
  json.Key("waiting").Number(static_cast<int64_t>(info.waiting));
  json.Key("cells_run").Number(static_cast<int64_t>(info.cells_run));
  json.Key("snapshots").BeginArray();
  for (uint32_t before_cell : info.snapshots) json.Number(before_cell);
  json.EndArray();
  json.Key("memory_bytes").Number(static_cast<int64_t>(info.memory_bytes));
  json.Key("worker_pid").Number(info.worker_pid);
  json.Key("owners").BeginArray();
  for (const std::string& owner : info.owners) json.String(owner);
  json.EndArray();
  json.Key("idle_s").Number(absl::ToInt64Seconds(MonotonicNow() - info.last_used));
  json.EndObject();
}

// Of a notebook that has run.
std::string NotebookFrame(const RequestId& id, const NotebookJob::Outcome& outcome) {
  const NotebookRunResult& result = outcome.result;
  const bool is_fine = result.cells_failed == 0 && outcome.saved.ok();
  Frame frame("done", id);
  frame.Key("status").String(result.interrupted ? "cancelled" : is_fine ? "ok" : "error");
  frame.Key("cells_run").Number(static_cast<int64_t>(result.cells_run));
  frame.Key("cells_failed").Number(static_cast<int64_t>(result.cells_failed));
  frame.Key("state_lost").Bool(result.state_lost);
  frame.Key("file").String(outcome.file);
  if (!outcome.saved.ok()) {
    frame.Key("not_saved").String(std::string(outcome.saved.message()));
  }
  return frame.Take();
}

}  // namespace

Connection::Connection(Server& server, UniqueFd in, UniqueFd out)
    : server_(server), stream_(server.loop_, std::move(in), std::move(out), kMaxLineBytes, *this) {}

Connection::~Connection() {
  *alive_ = false;
  GiveUpCalls();
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
  if (request.ok()) {
    return std::visit([&](auto& what) { Do(id, std::move(what)); }, request->what);
  }
  Send(id == RequestId() ? ProtocolErrorFrame(request.status())
                         : RefusedFrame(id, request.status()));
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
  const bool could_not_be_served = absl::IsResourceExhausted(status) || absl::IsDataLoss(status);
  Leave(could_not_be_served ? status : absl::OkStatus());
}

void Connection::Do(const RequestId& id, EvalRequest request) {
  auto stream = CallStream::Create(server_.loop_, request.is_bare, id,
                                   [this](std::string frame) { Send(frame); });
  if (absl::Status status = CheckRoomFor(id); !status.ok()) {
    return stream->Finish(status);
  }
  RunningCall& running = AddCall(id, std::move(stream), request.call.owner);
  CallObserver* observer = running.stream.get();
  if (!request.stream) observer = &running.stream->last_line();
  const std::string session = request.call.session;
  running.call = server_.service_.Submit(
      std::move(request.call), observer,
      [this, id, session](absl::StatusOr<CallResult> result) { OnResult(id, session, result); });
}

Connection::RunningCall& Connection::AddCall(const RequestId& id,
                                             std::unique_ptr<CallStream> stream,
                                             const std::string& owner) {
  if (!owner.empty() && owners_.insert(owner).second) server_.AddOwner(owner);
  RunningCall& running = calls_[id];
  running.stream = std::move(stream);
  running.bytes = line_bytes_;
  call_bytes_ += running.bytes;
  return running;
}

std::unique_ptr<CallStream> Connection::RemoveCall(const RequestId& id) {
  auto running = calls_.extract(id);
  call_bytes_ -= running.mapped().bytes;
  return std::move(running.mapped().stream);
}

absl::Status Connection::CheckRoomFor(const RequestId& id) const {
  if (!server_.options_.unavailable.ok()) return server_.options_.unavailable;
  if (calls_.contains(id)) {
    return absl::InvalidArgumentError("id: a call of that id is under way");
  }
  return CheckRoom();
}

absl::Status Connection::CheckRoom() const {
  const size_t under_way = calls_.size() + unanswered_;
  if (under_way < kMaxCalls && call_bytes_ + line_bytes_ <= kMaxCallBytes) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(under_way, " calls of this client are under way, as many as may be"));
}

void Connection::OnResult(const RequestId& id, const std::string& session,
                          const absl::StatusOr<CallResult>& result) {
  RemoveCall(id)->Finish(result);
  server_.options_.on_used(session);
  LeaveIfDone();
}

void Connection::Do(const RequestId& id, CancelRequest request) {
  if (watches_.erase(request.call) > 0) {
    Send(OkFrame(request.call));
    return Send(OkFrame(id));
  }
  bool is_known = false;
  if (auto own = calls_.find(request.call); own != calls_.end()) {
    is_known = Cancel(own->second);
  } else if (absl::StatusOr<CallId> named = CallOf(request.handle); named.ok()) {
    is_known = server_.service_.Cancel(*named);
  }
  if (is_known) return Send(OkFrame(id));
  Send(RefusedFrame(id, absl::NotFoundError("no such call is under way")));
}

bool Connection::Cancel(const RunningCall& running) {
  if (running.notebook == nullptr) return server_.service_.Cancel(running.call);
  running.notebook->Cancel();
  return true;
}

void Connection::Do(const RequestId& id, ResetRequest request) {
  if (server_.registry_.Find(request.session) == nullptr) {
    return Send(RefusedFrame(id, NoSuchSession(request.session)));
  }
  server_.service_.Reset({.id = request.session},
                         Later<absl::Status>([this, id](absl::Status status) {
                           Send(status.ok() ? OkFrame(id) : RefusedFrame(id, status));
                         }));
}

void Connection::Do(const RequestId& id, InterruptRequest request) {
  Session* session = server_.registry_.Find(request.session);
  if (session == nullptr) return Send(RefusedFrame(id, NoSuchSession(request.session)));
  Frame frame("done", id);
  frame.Key("status").String("ok");
  frame.Key("interrupted").Bool(session->Interrupt());
  Send(frame.Take());
}

void Connection::Do(const RequestId& id, RewindRequest request) {
  Session* session = server_.registry_.Find(request.session);
  if (session == nullptr) return Send(RefusedFrame(id, NoSuchSession(request.session)));
  session->Rewind(request.cell,
                  [&service = server_.service_, name = request.session,
                   answer = AnswerStanding(id)](const absl::StatusOr<Standing>& standing) mutable {
                    if (standing.ok()) service.Tell(name, SessionChange::kRewound);
                    answer(standing);
                  });
}

void Connection::Do(const RequestId& id, BranchRequest request) {
  server_.registry_.Branch(request.session,
                           {.before_cell = request.cell, .id = std::move(request.new_session)},
                           AnswerStanding(id));
}

absl::AnyInvocable<void(absl::StatusOr<Standing>)> Connection::AnswerStanding(const RequestId& id) {
  using Answer = absl::StatusOr<Standing>;
  return Later<Answer>([this, id](Answer standing) {
    if (!standing.ok()) return Send(RefusedFrame(id, standing.status()));
    Frame frame("done", id);
    frame.Key("status").String("ok");
    frame.Key("before_cell").Number(standing->before_cell);
    frame.Key("not_carried").BeginArray();
    for (const std::string& what : standing->not_carried) frame.json().String(what);
    frame.json().EndArray();
    Send(frame.Take());
  });
}

void Connection::Do(const RequestId& id, CloseRequest request) {
  if (server_.registry_.Find(request.session) == nullptr) {
    return Send(RefusedFrame(id, NoSuchSession(request.session)));
  }
  server_.options_.on_closed(request.session);
  auto answer = Later<bool>([this, id](bool) { Send(OkFrame(id)); });
  server_.registry_.Close(request.session,
                          [answer = std::move(answer)]() mutable { answer(true); });
}

void Connection::Do(const RequestId& id, SessionsRequest) {
  using Infos = std::vector<SessionInfo>;
  server_.registry_.List(Later<Infos>([this, id](Infos infos) {
    Frame frame("done", id);
    frame.Key("status").String("ok");
    frame.Key("sessions").BeginArray();
    for (const SessionInfo& info : infos) WriteSession(info, frame.json());
    frame.json().EndArray();
    Send(frame.Take());
  }));
}

void Connection::Do(const RequestId& id, WatchRequest request) {
  if (!server_.options_.unavailable.ok()) {
    return Send(RefusedFrame(id, server_.options_.unavailable));
  }
  if (watches_.contains(id) || watches_.size() >= kMaxWatches) {
    return Send(RefusedFrame(
        id, absl::FailedPreconditionError("a watch of that id is under way, or too many are")));
  }
  const std::string session = request.session;
  if (server_.registry_.Find(session) != nullptr) return StartWatch(id, session);
  using Hold = absl::StatusOr<SessionHold>;
  server_.registry_.Acquire({.id = session,
                             .opening_cwd = std::move(request.opening_cwd),
                             .opening_interpreter = std::move(request.opening_interpreter)},
                            Later<Hold>([this, id, session](Hold hold) {
                              absl::Status status = hold.status();
                              if (status.ok()) status = hold->session().Prepare();
                              if (!status.ok()) return Send(RefusedFrame(id, status));
                              StartWatch(id, session);
                            }));
}

void Connection::StartWatch(const RequestId& id, const std::string& session) {
  const auto is_own = [this](const std::string& handle) {
    return std::ranges::any_of(calls_, [&](const auto& each) {
      const RunningCall& running = each.second;
      const CallId id = running.notebook != nullptr ? running.notebook->visit() : running.call;
      return HandleOf(id) == handle;
    });
  };
  std::unique_ptr<SessionWatch>& watch = watches_[id];
  watch = std::make_unique<SessionWatch>(
      SessionWatch::Place{server_.loop_, server_.registry_, server_.service_}, id, session, is_own,
      [this](const std::string& frame) { Send(frame); });
  watch->Start();
}

void Connection::Do(const RequestId& id, WaitRequest request) {
  absl::StatusOr<CallId> call = CallOf(request.handle);
  if (!call.ok()) return Send(RefusedFrame(id, call.status()));
  using Result = absl::StatusOr<CallResult>;
  server_.service_.Wait(*call, request.limit, Later<Result>([this, id](Result result) {
    Send(result.ok() ? ResultFrame(id, *result) : RefusedFrame(id, result.status()));
  }));
}

void Connection::Do(const RequestId& id, TailRequest request) {
  absl::StatusOr<CallId> call = CallOf(request.handle);
  if (!call.ok()) return Send(RefusedFrame(id, call.status()));
  absl::StatusOr<CallResult> result = server_.service_.Tail(*call);
  Send(result.ok() ? ResultFrame(id, *result) : RefusedFrame(id, result.status()));
}

void Connection::Do(const RequestId& id, QueryRequest request) {
  Session* session = server_.registry_.Find(request.session);
  if (session == nullptr) return Send(RefusedFrame(id, NoSuchSession(request.session)));
  using Answer = absl::StatusOr<std::string>;
  session->Query(std::move(request.query), Later<Answer>([this, id](Answer answer) {
                   if (!answer.ok()) return Send(RefusedFrame(id, answer.status()));
                   Frame frame("done", id);
                   frame.Key("status").String("ok");
                   frame.Key("answer");
                   if (!frame.json().Json(*answer)) frame.json().Null();
                   Send(frame.Take());
                 }));
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

std::map<RequestId, Connection::RunningCall>::const_iterator Connection::Caller(
    uint64_t call) const {
  const CallId caller = server_.service_.CallerOf(call);
  return std::find_if(calls_.begin(), calls_.end(), [call, caller](const auto& each) {
    const RunningCall& running = each.second;
    return running.notebook != nullptr ? running.notebook->HasCall(call) : running.call == caller;
  });
}

bool Connection::IsCaller(uint64_t call) const { return Caller(call) != calls_.end(); }

Frame Connection::CallFrame(std::string_view type, const BridgeCall& call) const {
  auto caller = Caller(call.id);
  const bool is_own = caller != calls_.end();
  if (is_own) caller->second.stream->FlushText();
  Frame frame(type, is_own ? caller->first : RequestId());
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
  LastLine& line = Caller(call.id)->second.stream->last_line();
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

void Connection::Do(const RequestId& id, NotebookFileRequest request) {
  if (absl::Status status = CheckRoom(); !status.ok()) return Send(RefusedFrame(id, status));
  call_bytes_ += line_bytes_;
  auto answer = Later<std::string>([this, bytes = line_bytes_](std::string frame) {
    call_bytes_ -= bytes;
    Send(frame);
  });
  server_.files_.Run([&loop = server_.loop_, id, request = std::move(request),
                      answer = std::move(answer)]() mutable {
    Frame frame("done", id);
    frame.Key("status").String("ok");
    absl::Status status = CheckNotebookFiles(request.files);
    if (status.ok()) status = request.act(frame);
    loop.Post([answer = std::move(answer),
               text = status.ok() ? frame.Take() : RefusedFrame(id, status)]() mutable {
      answer(std::move(text));
    });
  });
}

void Connection::Do(const RequestId& id, NotebookSessionRun request) {
  if (absl::Status status = CheckRoomFor(id); !status.ok()) {
    return Send(RefusedFrame(id, status));
  }
  auto stream = CallStream::Create(server_.loop_, /*is_bare=*/false, id,
                                   [this](std::string frame) { Send(frame); });
  CallStream* streamed = request.stream ? stream.get() : nullptr;
  RunningCall& running = AddCall(id, std::move(stream), request.owner);
  using Outcome = absl::StatusOr<NotebookJob::Outcome>;
  const std::string session = request.session;
  running.notebook = &server_.RunNotebook(
      std::move(request), streamed, [this, alive = alive_, id, session](const Outcome& outcome) {
        if (!*alive || !calls_.contains(id)) return;  // the client is gone
        RemoveCall(id)->FlushText();
        Send(outcome.ok() ? NotebookFrame(id, *outcome) : RefusedFrame(id, outcome.status()));
        if (!session.empty()) server_.options_.on_used(session);
        LeaveIfDone();
      });
}

// What is under way is given up; what is in the outbox is still sent.
void Connection::Do(const RequestId&, ExitRequest) {
  GiveUpCalls();
  stream_.StopReading();
  ended_ = true;
  LeaveIfDone();
}

void Connection::Do(const RequestId& id, ShutdownRequest) {
  Send(OkFrame(id));
  server_.options_.on_shutdown();
}

void Connection::Do(const RequestId& id, HandoverRequest) {
  if (!server_.holds_nothing()) {
    return Send(RefusedFrame(id, absl::FailedPreconditionError("sessions are open")));
  }
  Do(id, ShutdownRequest{});
}

void Connection::InterruptCalls() {
  for (const auto& [id, running] : calls_) Cancel(running);
}

template <typename T>
absl::AnyInvocable<void(T)> Connection::Later(absl::AnyInvocable<void(T)> answer) {
  ++unanswered_;
  return [this, alive = alive_, answer = std::move(answer)](T value) mutable {
    if (!*alive) return;
    --unanswered_;
    answer(std::move(value));
    LeaveIfDone();
  };
}

void Connection::GiveUpCalls() {
  for (const auto& [id, running] : calls_) {
    call_bytes_ -= running.bytes;
    if (running.notebook != nullptr) {
      running.notebook->Abandon();
    } else {
      server_.service_.Abandon(running.call);
    }
  }
  calls_.clear();
  if (server_.bridge_.Forget(*this)) server_.registry_.RenewOffers();
  for (const std::string& owner : std::exchange(owners_, {})) server_.RemoveOwner(owner);
}

// The client has sent its last request, and each has been answered and the answers written.
void Connection::LeaveIfDone() {
  if (ended_ && calls_.empty() && unanswered_ == 0 && stream_.drained()) Leave();
}

void Connection::Leave(absl::Status why) {
  if (std::exchange(left_, true)) return;
  GiveUpCalls();
  server_.Remove(*this, std::move(why));
}

}  // namespace cellar::host
