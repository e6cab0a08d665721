// What sessions take of the machine's memory: idle ones, and the host while a cell prints a lot.
#pragma once

#include "cellar/cellar.h"

namespace cellar::bench {

struct MemoryCounts {
  int idle_sessions = 20;
  int idle_pythons = 5;
  int printed_bytes = 256 << 20;
};

void MeasureMemory(Host& host, const MemoryCounts& counts);

}  // namespace cellar::bench
