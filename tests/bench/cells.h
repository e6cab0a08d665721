// What a small cell costs, one after the other and many asked for at once, against an interactive
// Python and against the wake-ups alone.
#pragma once

#include "cellar/cellar.h"
#include "tests/bench/limits.h"

namespace cellar::bench {

struct CellCounts {
  int rounds = 20;
  int cells_per_round = 100;
  int queued = 10'000;
};

void MeasureCells(Host& host, ProcessPingPong& limit, const CellCounts& counts);

}  // namespace cellar::bench
