#include "host/serve/client_bridge.h"

#include <set>
#include <utility>

namespace cellar::host {

void ClientBridge::Announce(Answerer& client, std::vector<BridgeTool> tools, BridgeBudget budget) {
  offers_.remove_if([&](const Offer& offer) { return offer.client == &client; });
  offers_.push_front({&client, std::move(tools), budget});
}

void ClientBridge::Forget(Answerer& client) {
  offers_.remove_if([&](const Offer& offer) { return offer.client == &client; });
  for (auto asked = asked_.begin(); asked != asked_.end();) {
    if (asked->second.client == &client) {
      asked->second.reply({.error = "the client that was to answer has left"});
      asked = asked_.erase(asked);
    } else {
      ++asked;
    }
  }
}

bool ClientBridge::Reply(const Answerer& client, uint64_t call, BridgeAnswer answer) {
  auto asked = asked_.find(call);
  if (asked == asked_.end() || asked->second.client != &client) return false;
  asked->second.reply(std::move(answer));
  asked_.erase(asked);
  return true;
}

void ClientBridge::Start(BridgeCall call, BridgeReply reply) {
  if (offers_.empty()) {
    return reply({.error = "no client answers calls; one that does says so by a tools request"});
  }
  Answerer* client = offers_.front().client;
  for (const Offer& offer : offers_) {
    if (!offer.client->HasCallOn(call.session)) continue;
    client = offer.client;
    break;
  }
  asked_.emplace(call.id, Asked{client, std::move(reply)});
  client->Ask(call);
}

void ClientBridge::Cancel(uint64_t call) {
  auto asked = asked_.find(call);
  if (asked == asked_.end()) return;
  Answerer* client = asked->second.client;
  asked_.erase(asked);
  client->Withdraw(call);
}

// Of tools of one name, that of the client that came last.
std::vector<BridgeTool> ClientBridge::tools() {
  std::vector<BridgeTool> tools;
  std::set<std::string> names;
  for (const Offer& offer : offers_) {
    for (const BridgeTool& tool : offer.tools) {
      if (names.insert(tool.name).second) tools.push_back(tool);
    }
  }
  return tools;
}

BridgeBudget ClientBridge::budget() {
  return offers_.empty() ? BridgeBudget() : offers_.front().budget;
}

}  // namespace cellar::host
