#include "embed/keeper.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "embed/descendants.h"
#include "host/base/process.h"
#include "host/wire/control.h"

namespace cellar::embed {
namespace {

class Keeper {
 public:
  Keeper(pid_t worker, UniqueFd host, int host_alive)
      : worker_(worker), host_(std::move(host)), host_alive_(host_alive) {}

  void Run() {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, nullptr);
    UniqueFd signals(signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
    SayHello();
    while (!WorkerHasEnded(WNOHANG)) {
      pollfd fds[] = {
          {host_.get(), POLLIN, 0}, {host_alive_, POLLIN, 0}, {signals.get(), POLLIN, 0}};
      if (poll(fds, 3, -1) < 0) continue;
      if (fds[1].revents != 0) break;
      if (fds[0].revents != 0 && !HandleMessage()) break;
      if (fds[2].revents != 0) {
        signalfd_siginfo info;
        while (read(signals.get(), &info, sizeof(info)) > 0) {
        }
        ReapOrphans();
      }
    }
    // The worker is not reaped yet, so its group id cannot belong to anyone else.
    kill(-worker_, SIGKILL);
    kill(worker_, SIGKILL);  // just forked, it may have no group yet
    WorkerHasEnded(0);
    ReportExit();
    KillDescendants();
  }

 private:
  void SayHello() {
    absl::StatusOr<UniqueFd> worker = OpenPidfd(worker_);
    absl::StatusOr<UniqueFd> keeper = OpenPidfd(getpid());
    if (!worker.ok() || !keeper.ok()) _exit(1);  // the host sees the socket's end
    wire::KeeperHello hello = {.keeper_pid = getpid(), .worker_pid = worker_};
    (void)wire::SendControl(host_.get(), hello, {worker->get(), keeper->get()});
  }

  // Looks without reaping; waits unless `flags` has WNOHANG.
  bool WorkerHasEnded(int flags) {
    exit_ = {};
    waitid(P_PID, static_cast<id_t>(worker_), &exit_, WEXITED | WNOWAIT | flags);
    return exit_.si_pid != 0;
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
    if ((*message)->type != wire::MessageType::kSignal) return false;  // kKill, or nothing we know
    std::optional<wire::Signal> signal = wire::Decode<wire::Signal>((*message)->payload);
    if (!signal) return false;
    kill(signal->group ? -worker_ : worker_, signal->signal);
    return true;
  }

  // Children of the worker whose parent died come to us.
  void ReapOrphans() {
    while (true) {
      siginfo_t info = {};
      if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return;
      if (info.si_pid == 0 || info.si_pid == worker_) return;
      waitid(P_PID, static_cast<id_t>(info.si_pid), &info, WEXITED | WNOHANG);
    }
  }

  pid_t worker_;
  UniqueFd host_;
  int host_alive_;
  siginfo_t exit_ = {};  // of the worker
};

}  // namespace

void RunKeeper(pid_t worker, UniqueFd host, int host_alive) {
  prctl(PR_SET_NAME, "cellar-keeper");
  Keeper(worker, std::move(host), host_alive).Run();
  _exit(0);
}

}  // namespace cellar::embed
