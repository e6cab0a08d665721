// One line on standard error for what a command could not do.
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace cellar::host {

void Complain(std::string_view words);
void Complain(const absl::Status& status);
// The same for a command that ends with it: returns ExitCodeFor().
int ComplainOf(const absl::Status& status);

}  // namespace cellar::host
