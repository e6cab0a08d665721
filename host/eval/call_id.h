// The numbers of calls and of those who wait for their results, and the handle by which clients
// name a call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cellar::host {

// Never 0.
using CallId = uint64_t;
using WaiterId = uint64_t;

// A handle is like "call-3fa9-7". CallOf: NotFound for what is no handle of this process.
std::string HandleOf(CallId id);
absl::StatusOr<CallId> CallOf(std::string_view handle);

absl::Status NoSuchCall(std::string_view handle);

}  // namespace cellar::host
