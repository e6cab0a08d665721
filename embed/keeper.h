// The keeper of one session: parent and subreaper of its worker and of its snapshots. It runs no
// Python. It passes signals to the worker's process group, reports how the worker ended, and leaves
// nothing alive when the session or the host is over.
#pragma once

#include <sys/types.h>

#include "host/base/unique_fd.h"

namespace cellar::embed {

// A keeper holds no directory and no stream of others.
void LeaveFiles();

// Runs until the worker, its snapshots and everything they started is gone, and until sessions that
// branched off are over too; never returns. `host` is the keeper's
// socket, `host_alive` a pidfd of the host. The worker must not have been reaped.
[[noreturn]] void RunKeeper(pid_t worker, UniqueFd host, int host_alive);

}  // namespace cellar::embed
