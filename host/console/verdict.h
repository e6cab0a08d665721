// How a cell ended, in a few words for a person.
#pragma once

#include <string>

#include "host/eval/result.h"

namespace cellar::host {

// "failed, 0.31 s"
std::string VerdictOn(const CellResult& result);

}  // namespace cellar::host
