#include "embed/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include "embed/descendants.h"
#include "host/base/process.h"
#include "host/wire/control.h"
#include "host/wire/keeper_messages.h"
#include "host/wire/process_names.h"

namespace cellar::embed {
namespace {

// A worker that was killed and is held by a debugger, or inside the kernel, is not waited for any
// longer.
constexpr int kEndOfWorkerMilliseconds = 500;
constexpr int kLookMilliseconds = 20;

class Keeper {
 public:
  Keeper(pid_t worker, UniqueFd host, int host_alive)
      : worker_(worker), host_(std::move(host)), host_alive_(host_alive) {}

  void Run(absl::FunctionRef<void()> begin) {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, nullptr);
    signals_.reset(signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
    KeepProcOpen();
    ContinueWhenSocketStirs(host_.get());
    if (!SayHello()) {
      kill(worker_, SIGKILL);
      _exit(1);  // the host sees the socket's end
    }
    begin();
    while (Serve()) {
    }
    if (worker_ != 0) EndWorker();
    KillDescendants(branches_);
    AwaitBranches();
  }

 private:
  // One round; false when the session is over.
  bool Serve() {
    // What the host said before the worker ended comes first: a snapshot to be kept, perhaps.
    const pid_t ended = worker_ != 0 && WorkerHasEnded() ? worker_ : 0;
    while (IsReadable(host_.get())) {
      if (!HandleMessage()) return false;
    }
    if (ended != 0 && ended == worker_) EndWorker();
    ReapOrphans();
    if (worker_ == 0 && asleep_.empty()) return false;
    pollfd fds[] = {
        {host_.get(), POLLIN, 0}, {host_alive_, POLLIN, 0}, {signals_.get(), POLLIN, 0}};
    if (poll(fds, 3, -1) < 0) return true;
    DrainSignals();
    return fds[1].revents == 0;
  }

  // Sessions that branched off live on below this one, whose place nobody else could take.
  void AwaitBranches() {
    host_.reset();
    ReapOrphans();  // one may have ended when nobody looked
    while (!branches_.empty()) {
      pollfd fds[] = {{host_alive_, POLLIN, 0}, {signals_.get(), POLLIN, 0}};
      if (poll(fds, 2, -1) < 0) continue;
      DrainSignals();
      ReapOrphans();
      if (fds[0].revents != 0) break;
    }
    KillDescendants();  // also trackers that a branch knew
  }

  // The worker and all it has started. It is not reaped before, so its group id cannot belong to
  // anyone else.
  void EndWorker() {
    kill(worker_, SIGKILL);
    AwaitEndOfWorker();
    ReportExit();
    // A tracker would be in the group; see KillDescendants.
    if (!ResourceTrackerLives(Kept())) kill(-worker_, SIGKILL);
    worker_ = 0;
    if (asleep_.empty()) return;
    Clear();
    (void)wire::SendControl(host_.get(), wire::Cleared{});
  }

  void AwaitEndOfWorker() {
    for (int waited = 0; !WorkerHasEnded(); waited += kLookMilliseconds) {
      if (waited >= kEndOfWorkerMilliseconds) {
        exit_ = {};
        exit_.si_code = CLD_KILLED;
        exit_.si_status = SIGKILL;
        return;
      }
      // What a debugger holds ends when that does; it may be one that a cell has started.
      if (waited > 0) KillLivingDescendants(Kept());
      pollfd child = {signals_.get(), POLLIN, 0};
      poll(&child, 1, kLookMilliseconds);
      DrainSignals();
    }
  }

  void Clear() { KillDescendants(Kept()); }

  std::set<pid_t> Kept() const {
    std::set<pid_t> kept = branches_;
    kept.insert(asleep_.begin(), asleep_.end());
    return kept;
  }

  // False when this process may not open files; a cell can see to that.
  bool SayHello() {
    absl::StatusOr<UniqueFd> worker = OpenPidfd(worker_);
    absl::StatusOr<UniqueFd> keeper = OpenPidfd(getpid());
    if (!worker.ok() || !keeper.ok()) return false;
    wire::KeeperHello hello = {.worker_pid = worker_};
    (void)wire::SendControl(host_.get(), hello, {worker->get(), keeper->get()});
    return true;
  }

  // Looks without reaping and without waiting.
  bool WorkerHasEnded() {
    exit_ = {};
    waitid(P_PID, static_cast<id_t>(worker_), &exit_, WEXITED | WNOWAIT | WNOHANG);
    return exit_.si_pid != 0 && !LetGo(exit_);
  }

  // A child may have this process trace it (PTRACE_TRACEME): then each of its signals stops it, and
  // is told as its end would be. True when that is all; it goes on untraced, with the signal.
  static bool LetGo(const siginfo_t& info) {
    if (info.si_code != CLD_TRAPPED) return false;
    ptrace(PTRACE_DETACH, info.si_pid, nullptr, info.si_status);
    return true;
  }

  void ReportExit() {
    wire::WorkerExited exited = {.signaled = exit_.si_code != CLD_EXITED, .code = exit_.si_status};
    (void)wire::SendControl(host_.get(), exited);
  }

  // False when the session is over.
  bool HandleMessage() {
    auto message = wire::ReceiveControl(host_.get());
    if (!message.ok()) return false;
    if (!*message) return true;
    const std::string& payload = (*message)->payload;
    switch ((*message)->type) {
      case wire::MessageType::kSignal:
        if (auto signal = wire::Decode<wire::Signal>(payload)) {
          if (worker_ != 0) kill(signal->group ? -worker_ : worker_, signal->signal);
          return true;
        }
        break;
      case wire::MessageType::kKill:
        if (auto message = wire::Decode<wire::Kill>(payload)) {
          if (message->worker_pid == 0 || message->worker_pid == worker_) Kill();
          return true;
        }
        break;
      case wire::MessageType::kKeepSnapshot:
        if (auto keep = wire::Decode<wire::KeepSnapshot>(payload)) {
          if (IsChild(keep->pid)) asleep_.insert(keep->pid);
          return true;
        }
        break;
      case wire::MessageType::kPromote:
        if (auto promote = wire::Decode<wire::Promote>(payload)) {
          Promote(promote->pid);
          return true;
        }
        break;
      case wire::MessageType::kKeepBranch:
        if (auto keep = wire::Decode<wire::KeepBranch>(payload)) {
          const bool lives = IsLivingChild(keep->keeper_pid);
          if (lives) branches_.insert(keep->keeper_pid);
          (void)wire::SendControl(host_.get(), wire::BranchKept{keep->keeper_pid, lives});
          return true;
        }
        break;
      default:
        break;
    }
    return false;
  }

  void Kill() {
    if (worker_ != 0) return EndWorker();
    // One that was being made out of a snapshot, and is not known yet.
    Clear();
    (void)wire::SendControl(host_.get(), wire::ForkFailed{.error = ECANCELED});
    (void)wire::SendControl(host_.get(), wire::Cleared{});
  }

  void Promote(pid_t pid) {
    if (worker_ != 0 || !IsChild(pid)) {
      (void)wire::SendControl(host_.get(), wire::ForkFailed{.error = ECHILD});
      return;
    }
    worker_ = pid;
    if (SayHello()) return;
    worker_ = 0;
    Clear();
    (void)wire::SendControl(host_.get(), wire::ForkFailed{.error = EMFILE});
  }

  // Also one that is dead and not reaped: what became of it is told as the end of a worker.
  static bool IsChild(pid_t pid) {
    siginfo_t info = {};
    return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
  }

  static bool IsReadable(int fd) {
    pollfd ready = {fd, POLLIN, 0};
    return poll(&ready, 1, 0) > 0;
  }

  void DrainSignals() {
    signalfd_siginfo info;
    while (read(signals_.get(), &info, sizeof(info)) > 0) {
    }
  }

  // Children of the worker whose parent died come to us.
  void ReapOrphans() {
    while (true) {
      siginfo_t info = {};
      if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return;
      if (info.si_pid == 0 || info.si_pid == worker_) return;
      if (LetGo(info)) continue;
      asleep_.erase(info.si_pid);
      // A keeper that was killed could not end what is its own: the session that it leads.
      if (branches_.erase(info.si_pid) > 0 && info.si_code != CLD_EXITED) KillSession(info.si_pid);
      waitid(P_PID, static_cast<id_t>(info.si_pid), &info, WEXITED | WNOHANG);
    }
  }

  pid_t worker_;  // 0 while the host decides how to go on after its end
  UniqueFd host_;
  int host_alive_;
  UniqueFd signals_;
  std::set<pid_t> asleep_;    // snapshots
  std::set<pid_t> branches_;  // keepers of sessions that branched off
  siginfo_t exit_ = {};       // of the worker
};

}  // namespace

void LeaveFiles() {
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd <= 2; ++fd) dup2(null, fd);
  (void)!chdir("/");
}

void RunKeeper(pid_t worker, UniqueFd host, int host_alive, absl::FunctionRef<void()> begin) {
  prctl(PR_SET_NAME, wire::kKeeperName);
  ContinueWhenParentDies();
  Keeper(worker, std::move(host), host_alive).Run(begin);
  // The keeper of its origin has no socket any more when it only waits for branches to end, and may
  // have been stopped.
  kill(getppid(), SIGCONT);
  _exit(0);
}

}  // namespace cellar::embed
