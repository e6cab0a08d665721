// One client of a server: reads its requests, has them done, and answers each with frames, the last
// of which is `done`. A client that leaves gives up its calls and its sessions.
//
// Lives on the loop's thread.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "host/eval/call_service.h"
#include "host/serve/call_stream.h"
#include "host/serve/client_bridge.h"
#include "host/serve/line_stream.h"
#include "host/serve/request.h"
#include "host/serve/session_watch.h"

namespace cellar::host {

class NotebookJob;
class Server;

class Connection : private LineStream::Listener, private Answerer {
 public:
  Connection(Server& server, UniqueFd in, UniqueFd out);
  // Calls that are under way are cancelled.
  ~Connection() override;

  void Start();
  void Send(std::string_view frame) { stream_.Send(frame); }
  void InterruptCalls();

 private:
  struct RunningCall {
    CallId call = 0;                  // or 0, and
    NotebookJob* notebook = nullptr;  // one that runs
    std::unique_ptr<CallStream> stream;
    size_t bytes = 0;  // of the request
  };

  void OnLine(std::string_view line) override;
  void OnLineTooLong() override;
  void OnEnd(bool in_a_line) override;
  void OnDrained() override { LeaveIfDone(); }
  void OnGone(const absl::Status& status) override;

  bool IsCaller(uint64_t call) const override;
  void Ask(const BridgeCall& call) override;
  void AskForInput(const BridgeCall& call, bool hidden) override;
  void Withdraw(uint64_t call) override;

  void Do(const RequestId& id, EvalRequest request);
  void Do(const RequestId& id, CancelRequest request);
  void Do(const RequestId& id, ResetRequest request);
  void Do(const RequestId& id, InterruptRequest request);
  void Do(const RequestId& id, RewindRequest request);
  void Do(const RequestId& id, BranchRequest request);
  void Do(const RequestId& id, CloseRequest request);
  void Do(const RequestId& id, SessionsRequest request);
  void Do(const RequestId& id, WatchRequest request);
  void Do(const RequestId& id, WaitRequest request);
  void Do(const RequestId& id, TailRequest request);
  void Do(const RequestId& id, QueryRequest request);
  void Do(const RequestId& id, HelloRequest request);
  void Do(const RequestId& id, ToolsRequest request);
  void Do(const RequestId& id, ReplyRequest request);
  void Do(const RequestId& id, NotebookFileRequest request);
  void Do(const RequestId& id, NotebookSessionRun request);
  void Do(const RequestId& id, ExitRequest request);
  void Do(const RequestId& id, ShutdownRequest request);
  void Do(const RequestId& id, HandoverRequest request);

  // For a call of that id; for anything else that takes room until it is answered.
  absl::Status CheckRoomFor(const RequestId& id) const;
  absl::Status CheckRoom() const;
  RunningCall& AddCall(const RequestId& id, std::unique_ptr<CallStream> stream,
                       const std::string& owner);
  std::unique_ptr<CallStream> RemoveCall(const RequestId& id);
  bool Cancel(const RunningCall& running);
  // The one whose cell has made that call to the host.
  std::map<RequestId, RunningCall>::const_iterator Caller(uint64_t call) const;
  // A frame about it, after what the cell printed before.
  Frame CallFrame(std::string_view type, const BridgeCall& call) const;
  void OnResult(const RequestId& id, const std::string& session,
                const absl::StatusOr<CallResult>& result);
  // For answers that come later: `answer` is called with what comes, unless the client is gone.
  template <typename T>
  absl::AnyInvocable<void(T)> Later(absl::AnyInvocable<void(T)> answer);
  // Says where a session stands that has been rewound or has branched off.
  absl::AnyInvocable<void(absl::StatusOr<Standing>)> AnswerStanding(const RequestId& id);
  void StartWatch(const RequestId& id, const std::string& session);
  void GiveUpCalls();
  void LeaveIfDone();
  void Leave(absl::Status why = absl::OkStatus());

  Server& server_;
  LineStream stream_;
  size_t line_bytes_ = 0;  // of the request that is being read
  std::map<RequestId, RunningCall> calls_;
  size_t call_bytes_ = 0;  // of calls_, and of files to be written
  std::map<RequestId, std::unique_ptr<SessionWatch>> watches_;
  size_t unanswered_ = 0;         // other requests whose answer comes later
  std::set<std::string> owners_;  // in whose names this client has made calls
  bool ended_ = false;            // nothing more is read
  bool left_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace cellar::host
