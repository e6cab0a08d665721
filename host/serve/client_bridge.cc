#include "host/serve/client_bridge.h"

#include <algorithm>
#include <set>
#include <utility>

#include "host/base/json_text.h"
#include "host/bridge/input_call.h"
#include "nlohmann/json.hpp"

namespace cellar::host {
namespace {

using nlohmann::json;

// A client answers with the line; cells expect its end too.
BridgeAnswer LineFrom(BridgeAnswer answer) {
  if (answer.error) return answer;
  json line = json::parse(answer.value, nullptr, /*allow_exceptions=*/false);
  if (line.is_null()) return {.value = "null"};
  if (!line.is_string()) return {.error = "the client answered input() with what is no text"};
  auto& text = line.get_ref<std::string&>();
  if (!text.ends_with('\n')) text += '\n';
  return {.value = JsonText(line)};
}

}  // namespace

void ClientBridge::Announce(Answerer& client, std::vector<BridgeTool> tools, BridgeBudget budget) {
  offers_.remove_if([&](const Offer& offer) { return offer.client == &client; });
  offers_.push_front({&client, std::move(tools), budget});
}

void ClientBridge::AnnounceInput(Answerer& client, bool offers) {
  if (offers) {
    input_clients_.insert(&client);
  } else {
    input_clients_.erase(&client);
  }
}

bool ClientBridge::Forget(Answerer& client) {
  const size_t offered = offers_.remove_if([&](const Offer& offer) {
    return offer.client == &client;
  }) + input_clients_.erase(&client);
  for (auto asked = asked_.begin(); asked != asked_.end();) {
    if (asked->second.client == &client) {
      asked->second.reply({.error = "the client that was to answer has left"});
      asked = asked_.erase(asked);
    } else {
      ++asked;
    }
  }
  return offered > 0;
}

bool ClientBridge::Reply(const Answerer& client, uint64_t call, BridgeAnswer answer) {
  auto asked = asked_.find(call);
  if (asked == asked_.end() || asked->second.client != &client) return false;
  asked->second.reply(asked->second.is_input ? LineFrom(std::move(answer)) : std::move(answer));
  asked_.erase(asked);
  return true;
}

void ClientBridge::Start(BridgeCall call, BridgeReply reply) {
  if (call.name == kInput) return StartInput(call, std::move(reply));
  if (offers_.empty()) {
    return reply({.error = "no client answers calls; one that does says so by a tools request"});
  }
  Answerer& client = ClientFor(call);
  asked_.emplace(call.id, Asked{&client, std::move(reply)});
  client.Ask(call);
}

Answerer& ClientBridge::ClientFor(const BridgeCall& call) const {
  const auto has_it = [&](const Offer& offer) {
    return std::ranges::any_of(offer.tools,
                               [&](const BridgeTool& tool) { return tool.name == call.name; });
  };
  const bool is_tool = std::ranges::any_of(offers_, has_it);  // or else llm, agent, output
  Answerer* last = nullptr;
  for (const Offer& offer : offers_) {
    if (is_tool && !has_it(offer)) continue;
    if (offer.client->IsCaller(call.id)) return *offer.client;
    if (last == nullptr) last = offer.client;
  }
  return *last;
}

void ClientBridge::StartInput(const BridgeCall& call, BridgeReply reply) {
  auto client = std::find_if(input_clients_.begin(), input_clients_.end(),
                             [&](const Answerer* each) { return each->IsCaller(call.id); });
  if (client == input_clients_.end()) return reply({.value = "false"});
  asked_.emplace(call.id, Asked{*client, std::move(reply), /*is_input=*/true});
  (*client)->AskForInput(call, IsHidden(call));
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
