// How soon the end of a cell is told: of one whose worker is killed, and of one that is
// interrupted.
#pragma once

#include "cellar/cellar.h"

namespace cellar::bench {

void MeasureDeath(Host& host, int count);
void MeasureInterrupts(Host& host, int count);

}  // namespace cellar::bench
