// A session of the daemon at a prompt. Others use it at the same time: what they do is told as it
// happens. The daemon may end; what is asked for next starts another.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "host/base/event_loop.h"
#include "host/bridge/provider.h"
#include "host/bridge/reply_desk.h"
#include "host/repl/prompt_session.h"
#include "host/runtime/environment.h"
#include "host/serve/background_dial.h"
#include "host/serve/link.h"
#include "host/session/opening.h"

namespace cellar::host {

struct SharedSessionOptions {
  Environment env;
  std::string name;
  SessionOpening opening;
};

class SharedSession : public PromptSession {
 public:
  // `desk` is asked when a cell of this prompt asks for input; it outlives this.
  SharedSession(EventLoop& loop, BridgeProvider& desk, SharedSessionOptions options);
  ~SharedSession() override;

  void Start(PromptSessionListener& listener, StatusCallback ready) override;
  void Leave(absl::AnyInvocable<void()> done) override { done(); }
  std::string name() const override { return options_.name; }
  std::string history() const override { return options_.name; }
  bool is_nameless() const override { return false; }
  uint32_t next_cell() const override { return next_cell_; }
  void Run(std::string code, StatusCallback done) override;
  bool busy() const override { return !call_.empty() || !waiting_.empty(); }
  void Interrupt() override;
  std::string running_by() const override { return other_by_; }
  void InterruptOther() override { Cancel(other_call_); }
  size_t others_since(uint32_t cell) const override;
  void Complete(std::string text, uint32_t cursor, QueryCallback done) override;
  void Reset(StatusCallback done) override;
  void Rewind(uint32_t cell, StandingCallback done) override;
  void Branch(const std::string& name, StandingCallback done) override;
  void Switch(const std::string& name, StatusCallback done) override;
  void List(ListCallback done) override;

 private:
  using Frame = nlohmann::ordered_json;

  // What this prompt has run in a session.
  struct OwnCells {
    std::set<uint32_t> numbers;
    uint32_t next_cell = 1;  // when the session was left
  };

  // Connects, if there is no daemon at the other end.
  void Connect(StatusCallback done);
  void OnDialled(absl::StatusOr<std::unique_ptr<Client>> client);
  void StopDialling();
  void TellWaiting(const absl::Status& status);
  void Watch(const std::string& name, StatusCallback done);
  void OnWatched(const Frame& frame);
  void OnState(const Frame& frame);
  void MoveTo(uint32_t cell);
  Frame WithoutOldNews(Frame finished);
  std::set<uint32_t>& own_cells() { return own_cells_[options_.name].numbers; }
  void OnGone();
  void OnInput(const Frame& frame);
  void OnWithdraw(uint64_t call);
  void Reply(uint64_t call, const BridgeAnswer& answer);
  // Sends a request about the session; `done` gets the last frame, or why there is none.
  void Ask(Frame request, absl::AnyInvocable<void(absl::StatusOr<Frame>)> done);
  void AskStanding(Frame request, StandingCallback done);
  void Cancel(const std::string& call);

  EventLoop& loop_;
  BridgeProvider& desk_;
  SharedSessionOptions options_;
  PromptSessionListener* listener_ = nullptr;
  std::unique_ptr<Link> link_;  // null: there is no daemon at the other end
  std::optional<BackgroundDial> dial_;
  EventLoop::TimerId slow_dial_ = 0;
  std::vector<StatusCallback> waiting_;  // for the daemon
  std::string watch_;                    // the id of the request to watch the session
  uint64_t watches_ = 0;                 // so many there have been; only the last one counts
  std::string call_;                     // the id of the own call under way; or empty
  std::string other_call_;               // the handle of another's that runs; or empty
  std::string other_by_;
  std::map<std::string, WatchedCall> shown_;  // the calls that the watch tells of, by handle
  uint32_t next_cell_ = 1;
  std::map<std::string, OwnCells> own_cells_;  // by the session's name
  int own_changes_ = 0;                        // resets and rewinds asked for here
  std::string told_change_;                    // by the watch, since the last cell; or empty
  std::set<uint64_t> asked_;                   // the calls that wait for input
  std::shared_ptr<ReplyDesk> replies_;
};

}  // namespace cellar::host
