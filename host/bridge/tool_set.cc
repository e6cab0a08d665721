#include "host/bridge/tool_set.h"

#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "host/base/json_text.h"

namespace cellar::host {
namespace {

// Arguments come from cells: what a function throws because of them must not end the host.
void Call(const ToolSet::Function& function, const BridgeCall& call, const BridgeReply& reply) {
  try {
    function(call, reply);
  } catch (const std::exception& error) {
    reply({.error = error.what()});
  }
}

}  // namespace

ToolSet::Function ToolSet::Plain(PlainFunction function) {
  return [function = std::move(function)](const BridgeCall& call, const BridgeReply& reply) {
    nlohmann::json args = nlohmann::json::parse(call.args, nullptr, /*allow_exceptions=*/false);
    if (args.is_discarded()) return reply({.error = "the arguments are not JSON"});
    absl::StatusOr<nlohmann::json> value = function(args);
    if (!value.ok()) return reply({.error = std::string(value.status().message())});
    reply({.value = JsonText(*value)});
  };
}

void ToolSet::Add(BridgeTool tool, Function function) {
  absl::MutexLock lock(&mutex_);
  functions_[tool.name] = std::move(function);
  std::string name = tool.name;
  tools_[std::move(name)] = std::move(tool);
}

void ToolSet::Serve(std::string name, Function function) {
  absl::MutexLock lock(&mutex_);
  functions_[std::move(name)] = std::move(function);
}

void ToolSet::Remove(const std::string& name) {
  absl::MutexLock lock(&mutex_);
  functions_.erase(name);
  tools_.erase(name);
}

void ToolSet::SetBudget(BridgeBudget budget) {
  absl::MutexLock lock(&mutex_);
  budget_ = budget;
}

void ToolSet::OnCancel(CancelFunction function) {
  absl::MutexLock lock(&mutex_);
  on_cancel_ = std::move(function);
}

void ToolSet::Start(BridgeCall call, BridgeReply reply) {
  // Called without the lock: a function may change the set.
  Function function;
  std::string known;
  {
    absl::MutexLock lock(&mutex_);
    auto found = functions_.find(call.name);
    if (found != functions_.end()) {
      function = found->second;
    } else {
      known = absl::StrJoin(functions_, ", ",
                            [](std::string* out, const auto& entry) { out->append(entry.first); });
    }
  }
  if (function) return Call(function, call, reply);
  reply({.error = absl::StrCat("the host has no ", call.name.substr(0, 100),
                               "; it has: ", known.empty() ? "nothing" : known)});
}

void ToolSet::Cancel(uint64_t call) {
  CancelFunction function;
  {
    absl::MutexLock lock(&mutex_);
    function = on_cancel_;
  }
  if (function) function(call);
}

std::vector<BridgeTool> ToolSet::tools() {
  absl::MutexLock lock(&mutex_);
  std::vector<BridgeTool> list;
  for (const auto& [name, tool] : tools_) list.push_back(tool);
  return list;
}

BridgeBudget ToolSet::budget() {
  absl::MutexLock lock(&mutex_);
  return budget_;
}

}  // namespace cellar::host
