// A call of `cellar eval` that was refused, or could not be run at all.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace cellar::host {

// For programs: a result like any other, whose text says why.
std::string RefusedResult(const std::string& session, const std::string& why);

// Complains, and with `json` prints the result too; the exit code.
int RefuseEval(const absl::Status& why, const std::string& session, bool json);

}  // namespace cellar::host
