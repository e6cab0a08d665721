// Who answers the calls that cells make: tools, llm, agent. An interface for the front ends, and
// the data that crosses it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/bridge/reply.h"

namespace cellar::host {

// One thing that cells can call, as it is shown to them.
struct BridgeTool {
  std::string name;
  std::string description;
  std::string schema;  // JSON Schema of the arguments, as JSON; or empty
};

// What llm and agent calls may still cost, in tokens.
struct BridgeBudget {
  std::optional<double> total;  // nothing = no ceiling
  bool hard = false;            // past the ceiling agents are refused
  double spent = 0;

  bool operator==(const BridgeBudget&) const = default;
};

struct BridgeCall {
  uint64_t id = 0;      // unique in this process; the `parent` of cells that are run to answer it
  std::string session;  // SessionOptions::id
  uint32_t cell = 0;    // that makes the call, or started the thread or task that does
  std::string name;     // a tool's, or "llm", "agent", "output"
  std::string args;     // JSON as a cell gave it: well-formed, and nothing else is known of it
};

// All calls are made on the loop's thread and must not block.
class BridgeProvider {
 public:
  virtual ~BridgeProvider() = default;

  // Answered by `reply`, whenever the answer is there.
  virtual void Start(BridgeCall call, BridgeReply reply) = 0;
  // Nobody waits for the answer any more: the cell was interrupted, has died or given up, or the
  // call's time is over. Not for a call that was answered.
  virtual void Cancel(uint64_t call) = 0;

  // Whether there is somebody to answer; if not, cells are told how to connect somebody.
  virtual bool answers() { return true; }
  // What cells see. Asked when a worker starts and by Session::RenewOffer(); the budget also with
  // each answer.
  virtual std::vector<BridgeTool> tools() = 0;
  virtual BridgeBudget budget() = 0;
  // Whether there is a person whom input() can ask: by a call of this name, which no tool can have,
  // with the arguments {"hidden": bool}; answered with the line that was typed and its newline,
  // null at the end of the input, or false when there is nobody to ask after all.
  static constexpr const char* kInput = "$input";
  virtual bool offers_input() { return false; }
};

}  // namespace cellar::host
