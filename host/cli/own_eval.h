// `cellar eval` without -s: one call in a host of its own.
#pragma once

#include "host/eval/call.h"
#include "host/session/launch.h"

namespace cellar::host {

// The exit code. The call is for the directory that it names, else for that of `query`.
int RunOwnEval(Call call, LaunchQuery query, bool json);

}  // namespace cellar::host
