// One client of a server: reads its requests, has them done, and answers each with frames, the last
// of which is `done`. A client that leaves gives up its calls and its sessions.
//
// Lives on the loop's thread.
#pragma once

#include <list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "host/base/lifeline.h"
#include "host/serve/client_bridge.h"
#include "host/serve/client_calls.h"
#include "host/serve/client_watches.h"
#include "host/serve/line_stream.h"
#include "host/serve/request.h"
#include "host/serve/room.h"

namespace cellar::host {

class Server;

class Connection : private LineStream::Listener, private Answerer {
 public:
  Connection(Server& server, UniqueFd in, UniqueFd out);
  // Calls that are under way are cancelled.
  ~Connection() override;

  void Start();
  void Send(std::string_view frame) { stream_.Send(frame); }
  void InterruptCalls() { calls_.CancelAll(); }

 private:
  // LineStream::Listener.
  void OnLine(std::string_view line) override;
  void OnLineTooLong() override;
  void OnEnd(bool in_a_line) override;
  void OnDrained() override { LeaveIfDone(); }
  void OnGone(const absl::Status& status) override;

  // Answerer.
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

  CallStream::Send Sender();
  // Whether a call or a watch of that id can be started now.
  absl::Status CheckStart(const RequestId& id) const;
  absl::Status CheckDirectory(const Call& call) const;
  ClientCalls::Running& AddCall(const RequestId& id, std::unique_ptr<CallStream> stream,
                                const std::string& owner);
  // Begins a frame about a bridge call, which comes after what the cell printed before.
  Frame CallFrame(std::string_view type, const BridgeCall& call) const;
  // For answers that come later: `answer` is called with what comes, unless the client is gone.
  // The request takes room until then.
  template <typename T>
  absl::AnyInvocable<void(T)> Later(absl::AnyInvocable<void(T)> answer);
  // Says where a session stands that has been rewound or has branched off.
  absl::AnyInvocable<void(absl::StatusOr<Standing>)> AnswerStanding(const RequestId& id);
  // Cancels what the client has under way; it offers nothing and acts for nobody any more.
  void GiveUp();
  void LeaveIfDone();
  void Leave(absl::Status why = absl::OkStatus());

  Server& server_;
  LineStream stream_;
  size_t line_bytes_ = 0;  // of the request that is being read
  Room room_;
  ClientCalls calls_;
  ClientWatches watches_;
  std::list<WaiterId> waits_;     // for calls in the background
  std::list<TicketId> resets_;    // that have not had their turn, or are not answered yet
  std::set<std::string> owners_;  // in whose names this client has made calls
  bool ended_ = false;            // nothing more is read
  bool wants_no_more_ = false;    // the client does not wait for answers either
  bool left_ = false;
  Lifeline lifeline_;
};

template <typename T>
absl::AnyInvocable<void(T)> Connection::Later(absl::AnyInvocable<void(T)> answer) {
  room_.Take(line_bytes_);
  return [this, alive = lifeline_.watch(), bytes = line_bytes_,
          answer = std::move(answer)](T value) mutable {
    if (!*alive) return;
    room_.Give(bytes);
    answer(std::move(value));
    LeaveIfDone();
  };
}

}  // namespace cellar::host
