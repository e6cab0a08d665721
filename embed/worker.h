// A forked worker, from the moment of its birth to its end: the steps after the fork, and what the
// `_cellar` module needs to reach.
#pragma once

#include <vector>

#include "embed/channel.h"
#include "embed/output.h"
#include "host/base/unique_fd.h"

namespace cellar::embed {

// `fds` as in wire::BirthFd, the keeper's already taken out. Called between fork and
// PyOS_AfterFork_Child.
[[noreturn]] void RunWorker(std::vector<UniqueFd> fds);

// Above the host's 0: when memory runs out, what can be replaced goes first.
inline constexpr int kWorkerOomScore = 500;
inline constexpr int kSnapshotOomScore = 800;
void SetOomScore(int score);

struct WorkerParts {
  Channel channel;
  Output output;
  UniqueFd faults;  // where faulthandler writes
};
// The parts of this worker; only in a worker.
WorkerParts& Worker();

}  // namespace cellar::embed
