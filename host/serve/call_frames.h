// The frames that tell of a call, read back into what they tell: for clients that show it to a
// person. What comes is bounded but not trusted; what is not as it should be is passed over.
#pragma once

#include "host/eval/call_observer.h"
#include "nlohmann/json.hpp"

namespace cellar::host {

// Tells the observer what the frame tells; nothing if it is of a kind that is not about cells.
void TellOf(const nlohmann::ordered_json& frame, CallObserver& observer);

}  // namespace cellar::host
