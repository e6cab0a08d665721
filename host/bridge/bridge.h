// The calls that the cells of one worker make to the host: passes them to the provider and the
// answers back, each call answered exactly once, whatever becomes of cell, thread or worker.
//
// Lives on the loop's thread, as long as the worker.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "host/base/event_loop.h"
#include "host/base/unique_fd.h"
#include "host/bridge/line.h"
#include "host/bridge/provider.h"
#include "host/bridge/reply_desk.h"

namespace cellar::host {

// How long a call may take.
inline constexpr absl::Duration kBridgeLimit = absl::Hours(1);

class BridgeListener {
 public:
  virtual ~BridgeListener() = default;
  // A call has come; the provider hears of it after this. What the cell printed before it is there
  // to be read.
  virtual void OnCallComes() = 0;
  // The first call of a cell is under way, or its last one has ended; or a person has been asked
  // for input, or has answered.
  virtual void OnCallsChanged(uint32_t cell) = 0;
  // The worker has given up the call: what was to be run inside its wait, and was not, will not be.
  // What the worker sent over its channel before is there to be read.
  virtual void OnWithdraw(uint64_t call) = 0;
  // To be sent over the channel.
  virtual void OnOffer(const wire::BridgeOffer& offer) = 0;
};

struct BridgeOptions {
  BridgeProvider* provider = nullptr;  // outlives the bridge; null: nobody answers
  std::string session;                 // BridgeCall::session
  absl::Duration limit = kBridgeLimit;
};

class Bridge : private LineListener {
 public:
  // The name of a call by which a worker says that it waits for somebody other than the provider,
  // and which it withdraws when it does no more. No tool can have it.
  static constexpr const char* kElsewhere = "$elsewhere";

  Bridge(EventLoop& loop, BridgeOptions options, BridgeListener& listener);
  // Calls that are under way are cancelled.
  ~Bridge() override;

  // Tells the listener what the provider offers, as far as it has changed.
  void RenewOffer();

  void AddLine(UniqueFd socket, bool of_main_thread);

  // Whether that cell waits for an answer. Input does not count: nobody may be there.
  bool HasCalls(uint32_t cell) const { return under_way_.contains(cell); }
  // The cell that waits for that call; nothing when it is not under way.
  std::optional<uint32_t> CellThatCalls(uint64_t call) const;
  // Answers all calls of an interrupted cell, so that they raise KeyboardInterrupt; it makes no
  // more calls.
  void CancelCell(uint32_t cell);

  // The cell whose main thread waits for this call, and so could run another cell meanwhile.
  std::optional<uint32_t> WaitingCell(uint64_t call) const;
  // The call that the main thread waits for; nothing when it does not wait.
  std::optional<uint64_t> CallOfMainThread() const;
  // Runs a cell inside that wait; `call` must be one of a WaitingCell.
  void RunNested(uint64_t call, uint32_t cell, const std::string& code);

 private:
  enum class Kind { kAsked, kInput, kElsewhere };
  struct Call {
    Line* line;
    uint64_t number;  // the worker's
    uint32_t cell;
    Kind kind;
    EventLoop::TimerId limit_timer;
  };

  void OnCall(Line& line, wire::BridgeCall call) override;
  void OnWithdraw(Line& line, uint64_t number) override;
  void OnLineEnd(Line& line) override;

  static Kind KindOf(const std::string& name);
  // Whether a cell can run inside the wait for it.
  static bool CanNest(const Call& call);
  void OnReply(uint64_t id, BridgeAnswer answer);
  void OnLimit(uint64_t id);
  // Ends a call that the worker waits for no more.
  void Forget(uint64_t id);
  // Ends a call that the provider has not answered.
  void Cancel(uint64_t id, wire::BridgeAnswer answer);
  std::vector<uint64_t> CallsOf(absl::FunctionRef<bool(const Call&)> matches) const;
  // Nothing when it has ended before.
  std::optional<Call> Remove(uint64_t id);
  // Nobody waits for the provider's answer any more, if one was to come.
  void TellProvider(uint64_t id, const Call& call);
  void RenewOffer(wire::OfferKind kind, std::string json);
  void RenewBudget();

  EventLoop& loop_;
  BridgeOptions options_;
  BridgeListener& listener_;
  std::shared_ptr<ReplyDesk> desk_;
  std::vector<std::unique_ptr<Line>> lines_;
  std::map<uint64_t, Call> calls_;     // by id
  std::map<uint32_t, int> under_way_;  // calls by cell, without those for input
  std::set<uint32_t> interrupted_cells_;
  std::array<wire::BridgeOffer, wire::kOfferKinds> offers_;
  // What every line starts with: sent before the first cell.
  std::array<wire::BridgeOffer, wire::kOfferKinds> first_offers_;
  BridgeBudget budget_;
};

}  // namespace cellar::host
