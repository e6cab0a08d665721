#include "embed/worker.h"

#include <fcntl.h>
#include <pybind11/pybind11.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "embed/fork_guard.h"
#include "host/base/fds.h"
#include "host/wire/messages.h"

namespace py = pybind11;

namespace cellar::embed {
namespace {

WorkerParts* g_worker = nullptr;

[[noreturn]] void Die(const char* what) {
  dprintf(STDERR_FILENO, "cellar: a new worker could not %s\n", what);
  _exit(1);
}

UniqueFd High(UniqueFd fd) {
  absl::StatusOr<UniqueFd> high = MoveHigh(std::move(fd));
  if (!high.ok()) Die("move its descriptors");
  return *std::move(high);
}

}  // namespace

void RunWorker(std::vector<UniqueFd> fds) {
  // 1. A session and process group of its own: interrupts and kills go to the group, and there is
  // no terminal.
  setsid();
  prctl(PR_SET_NAME, "cellar-worker");
  // 2. The captured pipes become 1 and 2; copies stay high, to put them back if a cell closes them.
  // 0 is /dev/null.
  dup2(fds[wire::kStdoutFd].get(), STDOUT_FILENO);
  dup2(fds[wire::kStderrFd].get(), STDERR_FILENO);
  setvbuf(stdout, nullptr, _IOLBF, 0);
  // 3. A crash must not write a core file, and is to be preferred over the host's death when memory
  // runs out.
  rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  SetOomScore(kWorkerOomScore);
  // 4. The ring stays mapped; its descriptor is not needed.
  absl::StatusOr<wire::RingMemory> ring = wire::RingMemory::Map(fds[wire::kRingFd].get());
  if (!ring.ok()) Die("map its ring");
  g_worker = new WorkerParts{
      Channel(High(std::move(fds[wire::kChannelFd]))),
      Output(*std::move(ring), High(std::move(fds[wire::kDoorbellFd])),
             High(std::move(fds[wire::kStdoutFd])), High(std::move(fds[wire::kStderrFd]))),
      High(std::move(fds[wire::kFaultsFd]))};
  fds.clear();
  // 5. Python learns of the fork: locks, thread ids, the random module's seed.
  PyOS_AfterFork_Child();
  // 6. From here on a fork makes a child of a cell.
  ArmForkGuard();
  try {
    py::module_::import("cellar_runtime.runner").attr("run_worker")();
  } catch (py::error_already_set& error) {
    dprintf(STDERR_FILENO, "cellar: the worker's runtime failed: %s\n", error.what());
    _exit(1);
  }
  // Never finalised: a copy must not run what belongs to the template.
  std::fflush(nullptr);
  _exit(0);
}

void SetOomScore(int score) {
  UniqueFd file(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (file) dprintf(file.get(), "%d", score);
}

WorkerParts& Worker() { return *g_worker; }

}  // namespace cellar::embed
