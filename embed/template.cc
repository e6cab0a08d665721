#include "embed/template.h"

#include <poll.h>
#include <pybind11/pybind11.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include "embed/descendants.h"
#include "embed/interpreter.h"
#include "embed/keeper.h"
#include "embed/main.h"
#include "embed/rehearsal.h"
#include "embed/worker.h"
#include "host/base/fds.h"
#include "host/wire/birth_fds.h"
#include "host/wire/control.h"
#include "host/wire/keeper_messages.h"

namespace cellar::embed {
namespace {

// Without a request for so long, there is time for a rehearsal.
constexpr int kQuietMilliseconds = 50;

// The descriptors of a new session, on their way to its spare keeper and from there to the worker.
bool SendFds(int socket, const std::vector<UniqueFd>& fds) {
  std::vector<int> numbers;
  for (const UniqueFd& fd : fds) numbers.push_back(fd.get());
  return wire::SendControl(socket, wire::Fork{}, numbers).ok();
}

// Waits for them; ends the process when nobody is left to send them.
std::vector<UniqueFd> ReceiveFds(UniqueFd socket, size_t count) {
  auto message = wire::ReceiveControl(socket.get());
  if (!message.ok() || !*message || (*message)->fds.size() != count) _exit(0);
  return std::move((*message)->fds);
}

UniqueFd TakeKeeperFd(std::vector<UniqueFd>& fds) {
  UniqueFd keeper = std::move(fds[wire::kKeeperFd]);
  fds.pop_back();
  return keeper;
}

class Template {
 public:
  Template(UniqueFd control, UniqueFd host_alive)
      : control_(std::move(control)), host_alive_(std::move(host_alive)) {}

  void StartPython(wire::Start start) {
    if (absl::Status status = StartInterpreter(start); !status.ok()) Fail(status);
    absl::StatusOr<Imported> imported = ImportModules(start.preload);
    if (!imported.ok()) Fail(imported.status());
    if (!imported->started_threads.empty()) {
      // What a module has started cannot be undone, so begin again without it.
      RestartWithout(imported->started_threads, start, control_.get(), host_alive_.get());
    }
    if (absl::Status status = BuildWorker(); !status.ok()) Fail(status);
    FreezeGarbageCollector(!start.preload.empty());
    wire::Ready ready = DescribeInterpreter();
    ready.warnings = std::move(start.warnings);
    ready.warnings.insert(ready.warnings.end(), imported->warnings.begin(),
                          imported->warnings.end());
    (void)wire::SendControl(control_.get(), ready);
  }

  void Serve() {
    BecomeSubreaper();
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, nullptr);
    UniqueFd signals(signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
    while (true) {
      pollfd fds[] = {
          {control_.get(), POLLIN, 0}, {host_alive_.get(), POLLIN, 0}, {signals.get(), POLLIN, 0}};
      const int ready = poll(fds, 3, rehearsed_ ? -1 : kQuietMilliseconds);
      if (ready < 0) continue;
      if (ready == 0) {
        rehearsed_ = true;
        Rehearse();
        if (spare_) ForkSpare(signals.get());  // the one that waits is as the template was before
        continue;
      }
      if (fds[1].revents != 0) break;
      if (fds[0].revents != 0 && !HandleMessage(signals.get())) break;
      if (fds[2].revents != 0) ReapKeepers(signals.get());
    }
    // The keepers see the end of the host themselves; this catches one that was stopped or killed.
    KillDescendants();
  }

 private:
  [[noreturn]] void Fail(const absl::Status& status) {
    wire::Failed failed = {.reason = std::string(status.message())};
    (void)wire::SendControl(control_.get(), failed);
    _exit(1);
  }

  bool HandleMessage(int signals) {
    auto message = wire::ReceiveControl(control_.get());
    if (!message.ok()) return false;
    if (!*message) return true;
    if ((*message)->type != wire::MessageType::kFork) return false;
    if ((*message)->fds.size() != wire::kForkFdCount) return false;
    StartSession(std::move((*message)->fds), signals);
    return true;
  }

  void StartSession(std::vector<UniqueFd> fds, int signals) {
    if (!GiveToSpare(fds)) {
      pid_t keeper = ForkKeeper(signals, [&] {
        UniqueFd host = TakeKeeperFd(fds);
        BeKeeper(std::move(fds), std::move(host));
      });
      if (keeper < 0) {
        (void)wire::SendControl(fds[wire::kKeeperFd].get(), wire::ForkFailed{.error = errno});
      }
    }
    fds.clear();
    // A host that opens sessions one after the other gets its next keeper and worker ahead of time.
    // Not for the first, which may be the only one.
    if (++sessions_started_ > 1) ForkSpare(signals);
  }

  bool GiveToSpare(const std::vector<UniqueFd>& fds) {
    UniqueFd spare = std::move(spare_);
    // Somebody may have stopped it. One that was collected has left its number to others.
    if (keepers_.contains(spare_pid_)) kill(spare_pid_, SIGCONT);
    return spare && SendFds(spare.get(), fds);
  }

  void ForkSpare(int signals) {
    absl::StatusOr<std::pair<UniqueFd, UniqueFd>> sockets = MakeSocketPair(SOCK_SEQPACKET);
    if (!sockets.ok()) return;
    auto& [ours, theirs] = *sockets;
    spare_pid_ = ForkKeeper(signals, [&] {
      ours.reset();
      BeSpare(std::move(theirs));
    });
    spare_ = std::move(ours);
  }

  // The child goes on in `be`, which does not return, still inside PyOS_BeforeFork: a keeper itself
  // never runs Python, so only its worker finishes the fork.
  template <typename Be>
  pid_t ForkKeeper(int signals, Be be) {
    PyOS_BeforeFork();
    pid_t keeper = fork();
    if (keeper == 0) {
      DropTemplate(signals);
      be();
    }
    int error = errno;
    PyOS_AfterFork_Parent();
    if (keeper > 0) keepers_.insert(keeper);
    errno = error;
    return keeper;
  }

  // What a keeper does first.
  void DropTemplate(int signals) {
    // 1. Before the worker is born, so that its orphans come here and not to the template.
    BecomeSubreaper();
    // 2. The template's own descriptors: a copy of its socket would hide its death from the host.
    control_.reset();
    close(signals);
    // 3. The template blocks SIGCHLD; cells must find an empty mask.
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    spare_.reset();
  }

  // Waits, with a worker forked already, for a session to keep; ends with the template or the host.
  [[noreturn]] void BeSpare(UniqueFd template_socket) {
    prctl(PR_SET_NAME, "cellar-spare");
    ContinueWhenParentDies();
    absl::StatusOr<std::pair<UniqueFd, UniqueFd>> birth = MakeSocketPair(SOCK_SEQPACKET);
    if (!birth.ok()) _exit(1);
    auto& [ours, theirs] = *birth;
    pid_t worker = fork();
    if (worker == 0) {
      template_socket.reset();
      ours.reset();
      host_alive_.reset();
      RunWorker([&] { return ReceiveFds(std::move(theirs), wire::kForkFdCount - 1); });
    }
    theirs.reset();
    pollfd fds[] = {{template_socket.get(), POLLIN, 0}, {host_alive_.get(), POLLIN, 0}};
    while (poll(fds, 2, -1) < 0) {
    }
    if (fds[1].revents != 0) _exit(0);
    std::vector<UniqueFd> received = ReceiveFds(std::move(template_socket), wire::kForkFdCount);
    UniqueFd host = TakeKeeperFd(received);
    if (worker > 0) kill(worker, SIGCONT);  // it may have been stopped too
    // Should the worker be gone, there is time for another.
    if (!IsLivingChild(worker)) BeKeeper(std::move(received), std::move(host));
    Keep(worker, std::move(host), [&] {
      SendFds(ours.get(), received);
      received.clear();
      ours.reset();
    });
  }

  [[noreturn]] void BeKeeper(std::vector<UniqueFd> fds, UniqueFd host) {
    absl::StatusOr<std::pair<UniqueFd, UniqueFd>> birth = MakeSocketPair(SOCK_SEQPACKET);
    pid_t worker = birth.ok() ? fork() : -1;
    if (worker == 0) {
      host.reset();
      host_alive_.reset();
      birth->first.reset();
      RunWorker([&] {
        ReceiveFds(std::move(birth->second), 0);
        return std::move(fds);
      });
    }
    if (worker < 0) {
      (void)wire::SendControl(host.get(), wire::ForkFailed{.error = errno});
      _exit(1);
    }
    // 4. Only the worker may hold the other ends of the host's sockets and pipes, and of the
    // template's log.
    fds.clear();
    birth->second.reset();
    Keep(worker, std::move(host), [&] {
      SendFds(birth->first.get(), {});
      birth->first.reset();
    });
  }

  [[noreturn]] void Keep(pid_t worker, UniqueFd host, absl::FunctionRef<void()> begin) {
    LeaveFiles();
    RunKeeper(worker, std::move(host), host_alive_.get(), begin);
  }

  void ReapKeepers(int signals) {
    signalfd_siginfo info;
    while (read(signals, &info, sizeof(info)) > 0) {
    }
    bool left_orphans = false;
    while (true) {
      int status;
      pid_t pid = waitpid(-1, &status, WNOHANG);
      if (pid <= 0) break;
      keepers_.erase(pid);
      left_orphans |= !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    }
    if (left_orphans) KillDescendants(keepers_);
  }

  UniqueFd control_;
  UniqueFd host_alive_;
  std::set<pid_t> keepers_;
  UniqueFd spare_;  // socket of a keeper that waits for a session, with its worker
  pid_t spare_pid_ = -1;
  int sessions_started_ = 0;
  bool rehearsed_ = false;
};

}  // namespace

void RunTemplate(const wire::Start& start, UniqueFd control, UniqueFd host_alive) {
  prctl(PR_SET_NAME, "cellar-template");
  ContinueWhenParentDies();
  ContinueWhenSocketStirs(control.get());
  Template self(std::move(control), std::move(host_alive));
  self.StartPython(start);
  self.Serve();
  _exit(0);
}

}  // namespace cellar::embed
