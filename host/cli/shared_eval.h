// `cellar eval -s`: one call on a session of the daemon, shown as a call in a host of one's own is.
#pragma once

#include <string>

#include "host/eval/call.h"
#include "host/runtime/environment.h"

namespace cellar::host {

struct SharedEvalOptions {
  Environment env;
  std::string interpreter;  // asked for; or empty
  bool json = false;
  bool detach = false;  // leave it running, and say its handle
};

// The exit code.
int RunSharedEval(const Call& call, const SharedEvalOptions& options);

}  // namespace cellar::host
