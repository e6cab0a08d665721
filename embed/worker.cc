#include "embed/worker.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <stdexcept>

#include "embed/fork_guard.h"
#include "embed/interrupts.h"
#include "host/base/fds.h"
#include "host/wire/birth_fds.h"

namespace py = pybind11;

namespace cellar::embed {
namespace {

WorkerParts* g_worker = nullptr;

absl::StatusOr<UniqueFd> OpenNull() {
  UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return ErrnoStatus(errno, "opening /dev/null");
  return MoveHigh(std::move(null));
}

// With nobody at the other end of anything.
absl::Status MakeParts() {
  CELLAR_ASSIGN_OR_RETURN(auto channel, MakeSocketPair(SOCK_STREAM));
  CELLAR_ASSIGN_OR_RETURN(wire::RingMemory ring, wire::RingMemory::Map(std::nullopt));
  CELLAR_ASSIGN_OR_RETURN(UniqueFd doorbell, OpenNull());
  CELLAR_ASSIGN_OR_RETURN(UniqueFd out, OpenNull());
  CELLAR_ASSIGN_OR_RETURN(UniqueFd err, OpenNull());
  CELLAR_ASSIGN_OR_RETURN(UniqueFd faults, OpenNull());
  g_worker =
      new WorkerParts{Channel(std::move(channel.first)),
                      Output(std::move(ring), std::move(doorbell), std::move(out), std::move(err)),
                      std::move(faults), py::none()};
  return absl::OkStatus();
}

void SendFaultsToStderr() { dup3(STDERR_FILENO, g_worker->faults.get(), O_CLOEXEC); }

}  // namespace

WorkerParts& Worker() { return *g_worker; }

absl::Status BuildWorker() {
  CELLAR_RETURN_IF_ERROR(MakeParts());
  try {
    g_worker->runtime = py::module_::import("cellar_runtime.worker").attr("build")();
  } catch (py::error_already_set& error) {
    return absl::InternalError(std::string("cellar's runtime could not be set up: ") +
                               error.what());
  }
  return absl::OkStatus();
}

void RunWorker(const std::function<std::vector<UniqueFd>()>& await_fds) {
  // 1. A session and process group of its own: interrupts and kills go to the group, and there is
  // no terminal.
  setsid();
  SetKeeper(getppid());
  // 2. A crash must not write a core file, and is to be preferred over the host's death when memory
  // runs out.
  rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  SetOomScore(kWorkerOomScore);
  setvbuf(stdout, nullptr, _IOLBF, 0);
  // 3. Python learns of the fork: locks, thread ids, the random module's seed.
  PyOS_AfterFork_Child();
  // 4. From here on a fork makes a child of a cell. When that one crashes, its stack is output of
  // the cell, and not the reason of a later death of the worker.
  ArmForkGuard();
  pthread_atfork(nullptr, nullptr, SendFaultsToStderr);
  try {
    g_worker->runtime.attr("begin")();
    // 5. The captured pipes become 1 and 2; copies stay high, to put them back if a cell closes
    // them. 0 is /dev/null.
    if (absl::Status status = AdoptFds(await_fds()); !status.ok()) {
      throw std::runtime_error(status.ToString());
    }
    prctl(PR_SET_NAME, "cellar-worker");
    g_worker->runtime.attr("run")();
  } catch (std::exception& error) {
    dprintf(STDERR_FILENO, "cellar: the worker's runtime failed: %s\n", error.what());
    _exit(1);
  }
  // Never finalised: a copy must not run what belongs to the template.
  std::fflush(nullptr);
  _exit(0);
}

absl::Status AdoptFds(std::vector<UniqueFd> fds) {
  g_worker->channel.Adopt(std::move(fds[wire::kChannelFd]));
  dup3(fds[wire::kFaultsFd].get(), g_worker->faults.get(), O_CLOEXEC);
  return g_worker->output.Adopt(fds[wire::kRingFd].get(), fds[wire::kDoorbellFd].get(),
                                fds[wire::kStdoutFd].get(), fds[wire::kStderrFd].get());
}

absl::Status AdoptChannel(UniqueFd channel) {
  g_worker->channel.Adopt(std::move(channel));
  CELLAR_RETURN_IF_ERROR(g_worker->output.Silence());
  SendFaultsToStderr();
  return absl::OkStatus();
}

void SetOomScore(int score) {
  UniqueFd file(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (file) dprintf(file.get(), "%d", score);
}

}  // namespace cellar::embed
