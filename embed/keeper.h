// The keeper of one session: parent and subreaper of its worker and of its snapshots. It runs no
// Python. It passes signals to the worker's process group, reports how the worker ended, and leaves
// nothing alive when the session or the host is over.
#pragma once

#include <sys/types.h>

#include "absl/functional/function_ref.h"
#include "host/base/unique_fd.h"

namespace cellar::embed {

// A keeper holds no directory and no stream of others.
void LeaveFiles();

// Runs until the worker, its snapshots and everything they started is gone, and until sessions that
// branched off are over too; never returns. `host` is the keeper's socket, `host_alive` a pidfd of
// the host. The worker must not have been reaped. `begin` lets it go: not before the host has been
// told of both, because what a cell does to its keeper must not hit one that is half made.
[[noreturn]] void RunKeeper(pid_t worker, UniqueFd host, int host_alive,
                            absl::FunctionRef<void()> begin);

}  // namespace cellar::embed
