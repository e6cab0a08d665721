// A provider made of C++ functions: what a program that embeds cellar gives its cells to call.
//
//   cellar::ToolSet tools;
//   tools.Add({.name = "add", .description = "The sum of a and b.", .schema = R"({...})"},
//             cellar::ToolSet::Plain([](const nlohmann::json& args) ->
//             absl::StatusOr<nlohmann::json> {
//               return args.value("a", 0) + args.value("b", 0);
//             }));
//   cellar::Host::Start({.bridge = &tools});
//
// Its own calls may be made from any thread. What it is given is called by whichever thread runs
// the host and must not block: work that takes long goes to a thread of the program's, with the
// reply.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "host/bridge/provider.h"
#include "nlohmann/json.hpp"

namespace cellar::host {

class ToolSet : public BridgeProvider {
 public:
  using Function = std::function<void(const BridgeCall& call, BridgeReply reply)>;
  using PlainFunction = std::function<absl::StatusOr<nlohmann::json>(const nlohmann::json& args)>;
  using CancelFunction = std::function<void(uint64_t call)>;

  // A function that answers at once.
  static Function Plain(PlainFunction function);

  // Announced to cells as tool.<name>; replaces a tool of that name. Sessions that are open learn
  // of it by Host::RenewOffer().
  void Add(BridgeTool tool, Function function);
  // Answers what is not a tool: "llm", "agent", "output".
  void Serve(std::string name, Function function);
  void Remove(const std::string& name);
  // Cells see it with the next answer that one of their calls gets.
  void SetBudget(BridgeBudget budget);
  // Hears of calls that nobody waits for any more.
  void OnCancel(CancelFunction function);

  void Start(BridgeCall call, BridgeReply reply) override;
  void Cancel(uint64_t call) override;
  std::vector<BridgeTool> tools() override;
  BridgeBudget budget() override;

 private:
  absl::Mutex mutex_;
  std::map<std::string, BridgeTool> tools_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Function> functions_ ABSL_GUARDED_BY(mutex_);
  BridgeBudget budget_ ABSL_GUARDED_BY(mutex_);
  CancelFunction on_cancel_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cellar::host
