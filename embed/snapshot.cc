#include "embed/snapshot.h"

#include <fcntl.h>
#include <poll.h>
#include <pybind11/pybind11.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <utility>

#include "absl/time/time.h"
#include "embed/bridge.h"
#include "embed/descendants.h"
#include "embed/fork_guard.h"
#include "embed/interrupts.h"
#include "embed/native_threads.h"
#include "embed/process_copy.h"
#include "embed/user_fds.h"
#include "embed/worker.h"
#include "host/base/clock.h"
#include "host/base/utf8.h"
#include "host/wire/channel_messages.h"
#include "host/wire/process_names.h"

namespace cellar::embed {
namespace {

using wire::CopyKind;

constexpr char kOwnMemory[] = "/memfd:cellar-ring";

// A copy that was made in spite of it ends when the host drops its channel.
constexpr char kHeldUp[] = "a hook of os.register_at_fork, or a lock that it waits for, held it up";
constexpr char kSubinterpreter[] = "there is a subinterpreter, which a fork does not carry";

std::string g_library_directory;

// What a copy that is still to run will have to say; found once, when the live worker is copied.
struct Inheritance {
  std::vector<UserFd> fds;
  std::vector<std::string> not_carried;
  bool had_children = false;
  pid_t original = 0;
};

std::string ProcessName(pid_t pid) {
  std::ifstream comm("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(comm, name);
  return name;
}

// Memory that is shared on purpose, which a copy and its original go on sharing.
std::vector<std::string> SharedMemory() {
  std::set<std::string> names;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    size_t space = line.find(' ');
    if (line.compare(space + 1, 4, "rw-s") != 0) continue;
    size_t path = line.find_first_of("/[", space);
    if (path == std::string::npos || line.find(kOwnMemory, path) != std::string::npos) continue;
    names.insert(line.substr(path));
  }
  std::vector<std::string> phrases;
  for (const std::string& name : names) phrases.push_back("the contents of shared memory " + name);
  return phrases;
}

void Add(Inheritance& inheritance, const std::vector<std::string>& phrases) {
  for (const std::string& phrase : phrases) {
    if (inheritance.not_carried.size() == wire::kMaxListItems) return;
    // They name files and processes, whose names are any bytes.
    inheritance.not_carried.push_back(ReplaceInvalidUtf8(phrase));
  }
}

Inheritance Examine(const CopyContext& context, const CopyRequest& request) {
  Output& output = Worker().output;
  std::set<int> own = context.own_fds;
  for (int fd : output.fds()) own.insert(fd);
  for (const UniqueFd& fd : request.fds) own.insert(fd.get());
  for (int fd : LineFds()) own.insert(fd);
  own.insert(
      {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, Worker().channel.fd(), Worker().faults.get()});
  Inheritance inheritance = {.fds = ListUserFds(own, output.out_inode(), output.err_inode()),
                             .original = getpid()};
  for (const std::string& name : context.threads) {
    Add(inheritance, {"the thread " + name});
  }
  siginfo_t info;
  inheritance.had_children = waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
  return inheritance;
}

// In the copy: it has time for what would hold up the original.
void DescribeProcess(Inheritance& inheritance, pid_t helper) {
  if (inheritance.had_children) {
    std::vector<pid_t> children = ChildrenOf(inheritance.original);
    std::erase(children, helper);
    for (pid_t child : children) {
      Add(inheritance,
          {"the child process " + std::to_string(child) + " (" + ProcessName(child) + ")"});
    }
    // The original may have ended just now, and they with it.
    if (children.empty()) Add(inheritance, {"child processes that have ended"});
  }
  Add(inheritance, SharedMemory());
}

[[noreturn]] void Die(const char* what) {
  dprintf(STDERR_FILENO, "cellar: a copy of the worker could not %s\n", what);
  _exit(1);
}

// What the copy does first, before any Python runs in it.
void BecomeCopy(CopyRequest& request, Inheritance& inheritance, bool from_live_worker) {
  const bool asleep = request.message.kind == CopyKind::kAsleep;
  std::vector<UniqueFd>& fds = request.fds;
  // 1. What `ps` shows.
  prctl(PR_SET_NAME, asleep ? wire::kSnapshotName : "cellar-worker");
  // 2. When memory runs out, a snapshot goes before a worker.
  SetOomScore(asleep ? kSnapshotOomScore : kWorkerOomScore);
  // 3. The host's signals come from the keeper; only a branch has another.
  if (request.message.kind == CopyKind::kBranched) SetKeeper(getppid());
  // 4. What the copy cannot keep is named while it is still there.
  if (from_live_worker) Add(inheritance, DescribeUserFds(inheritance.fds));
  // 5. Its own channel, ring and pipes, under the numbers that Python knows. One that sleeps prints
  // nothing.
  absl::Status status =
      asleep ? AdoptChannel(std::move(fds[wire::kChannelFd])) : AdoptFds(std::move(fds));
  if (!status.ok()) Die("map its ring");
  fds.clear();
  // 6. Lines for bridge calls are the original's; the copy makes its own when it calls.
  AbandonLines();
  // 7. What cells have opened.
  Add(inheritance, ReplaceUserFds(inheritance.fds));
}

// By which the original knows that the copy holds nothing of what cells have opened: it goes on
// only then, or the next cell might find a port or a lock still taken.
struct LetGo {
  UniqueFd read;
  UniqueFd write;  // closed when it is done

  LetGo() {
    int pipe[2];
    if (pipe2(pipe, O_CLOEXEC) != 0) return;
    read.reset(pipe[0]);
    write.reset(pipe[1]);
  }
  void Wait() {
    constexpr int kLimitMilliseconds = 100;
    write.reset();
    pollfd ended = {read.get(), POLLIN, 0};
    poll(&ended, 1, kLimitMilliseconds);
  }
};

// Calls what runs code of Python and of cells, as their hooks for forks. False when that took too
// long and the host has ended it. A child that they fork returns here as well, and has no part in
// this.
bool RunStep(const CopyRequest& request, absl::FunctionRef<void()> step) {
  const bool in_time = RunForCopy(request.message.request, step);
  if (IsForkedChild()) _exit(0);
  return in_time;
}

// Why the live worker is not to be copied now; empty when it may be.
std::string ReasonAgainst(const CopyRequest& request, const CopyContext& context) {
  if (PyInterpreterState_Next(PyInterpreterState_Head()) != nullptr) return kSubinterpreter;
  if (!request.message.cautious) return "";
  const int unknown = CountUnknownThreads(context.python_threads);
  if (unknown == 0) return "";
  return std::to_string(unknown) + " threads of native code may not survive a fork";
}

// True in the copy. Only the live worker tells Python of the fork: one that sleeps runs none of it,
// and is still in the middle of its own fork.
bool ForkAndAnswer(CopyRequest& request, Inheritance& inheritance, bool from_live_worker) {
  const absl::Time start = MonotonicNow();
  CopyKeeper keeper;
  if (request.message.kind == CopyKind::kBranched) {
    keeper = {.host_socket = request.fds[wire::kKeeperFd].get(),
              .host_alive = request.fds[wire::kKeeperHostAliveFd].get(),
              .library_directory = g_library_directory};
  }
  std::optional<LetGo> let_go;
  if (from_live_worker && !inheritance.fds.empty()) let_go.emplace();
  bool in_time = !from_live_worker || RunStep(request, PyOS_BeforeFork);
  ProcessCopy copy;
  if (in_time) copy = ForkCopy(request.message.kind == CopyKind::kBranched ? &keeper : nullptr);
  if (copy.in_copy) {
    BecomeCopy(request, inheritance, from_live_worker);
    let_go.reset();
    if (from_live_worker) DescribeProcess(inheritance, copy.helper);
    return true;
  }
  if (from_live_worker) in_time &= RunStep(request, PyOS_AfterFork_Parent);
  if (let_go && copy.pid > 0) let_go->Wait();
  request.fds.clear();
  wire::Copied copied = {
      .request = request.message.request,
      .error = !in_time       ? kHeldUp
               : copy.pid < 0 ? std::string("fork: ") + std::strerror(copy.error)
                              : "",
      .held_up = !in_time,
      .pid = copy.pid,
      .keeper_pid = copy.keeper,
      .fork_us = static_cast<uint32_t>(absl::ToInt64Microseconds(MonotonicNow() - start))};
  Worker().channel.Send(wire::MessageFrame(copied));
  return false;
}

// Anonymous memory of a process, from /proc.
wire::Memory MeasureProcess(int32_t pid) {
  constexpr uint64_t kKibi = 1024;
  wire::Memory memory;
  std::ifstream rollup("/proc/" + std::to_string(pid) + "/smaps_rollup");
  for (std::string line; std::getline(rollup, line);) {
    uint64_t value = 0;
    if (std::sscanf(line.c_str(), "Pss_Anon: %lu kB", &value) == 1) {
      memory.proportional = value * kKibi;
    } else if (std::sscanf(line.c_str(), "Anonymous: %lu kB", &value) == 1) {
      memory.resident = value * kKibi;
    }
  }
  return memory;
}

void AnswerMeasure(const std::string& payload) {
  std::optional<wire::Measure> measure = wire::Decode<wire::Measure>(payload);
  if (!measure) return;
  wire::Measured measured;
  for (int32_t pid : measure->pids) measured.processes.push_back(MeasureProcess(pid));
  Worker().channel.Send(wire::MessageFrame(measured));
}

// The whole life of a snapshot: until it is asked for a copy. Ends with the host, or when that has
// dropped it.
CopyRequest Sleep() {
  Channel& channel = Worker().channel;
  while (true) {
    channel.WaitUntilReadable();
    for (Channel::Message& message : channel.Receive()) {
      if (message.type == static_cast<uint16_t>(wire::MessageType::kMeasure)) {
        AnswerMeasure(message.payload);
      }
      auto copy = message.type == static_cast<uint16_t>(wire::MessageType::kCopy)
                      ? wire::Decode<wire::Copy>(message.payload)
                      : std::nullopt;
      if (!copy) continue;
      if (message.fds.size() == wire::CopyFdCount(copy->kind)) {
        return {.message = *copy, .fds = std::move(message.fds)};
      }
      channel.Send(wire::MessageFrame(
          wire::Copied{.request = copy->request, .error = wire::kNoDescriptors}));
    }
  }
}

}  // namespace

void SetLibraryDirectory(const std::string& directory) { g_library_directory = directory; }

bool PrepareCopy(const CopyRequest& request, absl::FunctionRef<void()> prepare) {
  if (RunStep(request, prepare)) return true;
  Worker().channel.Send(wire::MessageFrame(
      wire::Copied{.request = request.message.request, .error = kHeldUp, .held_up = true}));
  return false;
}

std::optional<Awakening> MakeCopy(CopyRequest request, const CopyContext& context) {
  PauseOpenMp();
  if (std::string reason = ReasonAgainst(request, context); !reason.empty()) {
    Worker().channel.Send(wire::MessageFrame(
        wire::Copied{.request = request.message.request, .error = std::move(reason)}));
    return std::nullopt;
  }
  Inheritance inheritance = Examine(context, request);
  if (!ForkAndAnswer(request, inheritance, /*from_live_worker=*/true)) return std::nullopt;
  bool asleep = request.message.kind == CopyKind::kAsleep;
  if (asleep) {
    Worker().channel.Send(wire::MessageFrame(wire::Hello{.not_carried = inheritance.not_carried}));
  }
  while (asleep) {
    request = Sleep();
    if (ForkAndAnswer(request, inheritance, /*from_live_worker=*/false)) {
      asleep = request.message.kind == CopyKind::kAsleep;
    }
  }
  MarkAsWorker();
  request.message.request = wire::kWakingCopy;
  RunStep(request, PyOS_AfterFork_Child);
  return Awakening{.reseed = request.message.reseed,
                   .had_children = inheritance.had_children,
                   .not_carried = std::move(inheritance.not_carried)};
}

}  // namespace cellar::embed
