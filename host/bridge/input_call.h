// What is asked for in a call of BridgeProvider::kInput.
#pragma once

#include "host/bridge/provider.h"

namespace cellar::host {

// Whether what is typed must not be shown.
bool IsHidden(const BridgeCall& input);

}  // namespace cellar::host
