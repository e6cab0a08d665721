// Bridge calls as Python sees them: the type `BridgeLine`, on which cellar_runtime.bridge makes its
// calls, and what the host offers.
#pragma once

#include <pybind11/pybind11.h>

#include <vector>

#include "host/wire/bridge_messages.h"

namespace cellar::embed {

// Adds BridgeLine, bridge_offer and hear_interrupt to the module.
void DefineBridge(pybind11::module_& module);

// What the host offers has come over the channel. Under the GIL.
void ReceiveOffer(wire::BridgeOffer offer);

// The open sockets of all lines.
std::vector<int> LineFds();
// In a copy of this process: the lines are the original's. Each is made anew on its next use.
void AbandonLines();

}  // namespace cellar::embed
