#include "host/bridge/input_call.h"

#include "nlohmann/json.hpp"

namespace cellar::host {

using nlohmann::json;

bool IsHidden(const BridgeCall& input) {
  const json args = json::parse(input.args, nullptr, /*allow_exceptions=*/false);
  return args.is_object() && args.contains("hidden") && args["hidden"] == true;
}

}  // namespace cellar::host
