// One line on standard error for what a command could not do.
#pragma once

#include "absl/status/status.h"

namespace cellar::host {

void Complain(const absl::Status& status);

}  // namespace cellar::host
