// The frames that tell of a call, read back into what they tell: for clients that show it to a
// person. What comes is bounded but not trusted; what is not as it should be is passed over.
#pragma once

#include "absl/status/status.h"
#include "host/eval/call_runner.h"
#include "nlohmann/json.hpp"

namespace cellar::host {

// Tells the observer. A frame of another kind is none of its business.
void TellOf(const nlohmann::ordered_json& frame, CallObserver& observer);

// Why a request was refused, from its last frame; OK if it was not.
absl::Status RefusalIn(const nlohmann::ordered_json& done);

}  // namespace cellar::host
