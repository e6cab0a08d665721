#include "host/repl/input_desk.h"

#include "host/base/json_text.h"
#include "host/bridge/input_call.h"
#include "nlohmann/json.hpp"

namespace cellar::host {

using nlohmann::json;

void InputDesk::Start(BridgeCall call, BridgeReply reply) {
  if (call.name != kInput) {
    return reply({.error = "nobody at this prompt answers calls of " + call.name});
  }
  requests_.push_back({call.id, IsHidden(call), std::move(reply)});
  if (requests_.size() == 1 && on_change_) on_change_();
}

void InputDesk::Answer(const std::optional<std::string>& line) {
  if (requests_.empty()) return;
  const json value = line ? json(*line) : json(nullptr);
  requests_.front().reply({.value = JsonText(value)});
  requests_.pop_front();
  if (on_change_) on_change_();
}

void InputDesk::Cancel(uint64_t call) {
  const bool was_first = !requests_.empty() && requests_.front().call == call;
  std::erase_if(requests_, [call](const Request& request) { return request.call == call; });
  if (was_first && on_change_) on_change_();
}

}  // namespace cellar::host
