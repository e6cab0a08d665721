// A worker, in two steps. The template builds one, with descriptors that lead nowhere; each worker
// that is forked from it puts the host's in their place and runs. What the building costs, in time
// and memory, is so paid once and not by each session.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <vector>

#include "embed/channel.h"
#include "embed/output.h"
#include "host/base/status.h"
#include "host/base/unique_fd.h"

namespace cellar::embed {

struct WorkerParts {
  Channel channel;
  Output output;
  UniqueFd faults;           // where faulthandler writes
  pybind11::object runtime;  // the half in Python, cellar_runtime.worker.Worker
};
// The parts of this worker, or of the one that the template has built.
WorkerParts& Worker();

// In the template, after all imports: makes the parts, and the runtime's half on top of them.
absl::Status BuildWorker();

// In a forked worker, between fork and PyOS_AfterFork_Child. `await_fds` gives it the host's
// descriptors, those of wire::BirthFd before the keeper's, and may wait for them: all else is then
// done already.
[[noreturn]] void RunWorker(const std::function<std::vector<UniqueFd>()>& await_fds);

// Puts the host's descriptors in the place of the worker's, under the numbers that Python knows.
absl::Status AdoptFds(std::vector<UniqueFd> fds);
// The same for a copy that sleeps: it has a channel, and prints nothing.
absl::Status AdoptChannel(UniqueFd channel);

// Above the host's 0: when memory runs out, what can be replaced goes first.
inline constexpr int kWorkerOomScore = 500;
inline constexpr int kSnapshotOomScore = 800;
void SetOomScore(int score);

}  // namespace cellar::embed
