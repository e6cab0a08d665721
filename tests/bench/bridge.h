// Calls from cells to the host, measured against a bare round trip over a socket.
#pragma once

#include "tests/bench/limits.h"

namespace cellar::bench {

struct BridgeCounts {
  int rounds = 20;
  int calls_per_round = 480;  // divided by 16 where threads share them
};

void MeasureBridge(ProcessPingPong& limit, const BridgeCounts& counts);

}  // namespace cellar::bench
