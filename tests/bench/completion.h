// How long a session takes to complete text, in a namespace with pandas in it.
#pragma once

#include "cellar/cellar.h"

namespace cellar::bench {

void MeasureCompletion(Host& host, int rounds);

}  // namespace cellar::bench
