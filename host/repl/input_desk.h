// Where cells that ask for input wait for a person: input(), getpass() and debuggers, from any
// thread. One is asked for at a time, in the order of arrival.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/bridge/provider.h"

namespace cellar::host {

// Lives on the loop's thread.
class InputDesk : public BridgeProvider {
 public:
  struct Request {
    uint64_t call;
    bool hidden;  // what is typed must not be shown
    BridgeReply reply;
  };

  // Called when another request is first, or there is none any more.
  void set_on_change(std::function<void()> on_change) { on_change_ = std::move(on_change); }

  // Null when nobody asks.
  const Request* first() const { return requests_.empty() ? nullptr : &requests_.front(); }
  // Answers the first one; nothing = the end of the input.
  void Answer(const std::optional<std::string>& line);

 private:
  void Start(BridgeCall call, BridgeReply reply) override;
  void Cancel(uint64_t call) override;
  std::vector<BridgeTool> tools() override { return {}; }
  BridgeBudget budget() override { return {}; }
  bool offers_input() override { return true; }

  std::function<void()> on_change_;
  std::deque<Request> requests_;
};

}  // namespace cellar::host
