#include "embed/descendants.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace cellar::embed {
namespace {

DIR* g_proc = nullptr;

// Between two looks at processes that are on their way out, or that cannot be ended.
constexpr int kFirstPauseMilliseconds = 1;
constexpr int kLongestPauseMilliseconds = 50;

// For resource trackers to do their work when nobody else is left; and should that never be so.
constexpr auto kTrackerGrace = std::chrono::milliseconds(300);
constexpr auto kLongestGrace = std::chrono::seconds(1);

constexpr int kDeepest = 10'000;  // from a process to an ancestor

struct ProcessRow {
  pid_t parent;
  pid_t session;
  char state;
  int threads;

  // A process whose main thread has ended shows as dead while its other threads run.
  bool lives() const { return (state != 'Z' && state != 'X') || threads > 1; }
};

// pid -> parent for every process, from /proc/<pid>/stat. Not /proc/<pid>/task/*/children: kernels
// are built without it.
std::unordered_map<pid_t, ProcessRow> ReadProcesses() {
  std::unordered_map<pid_t, ProcessRow> processes;
  DIR* proc = g_proc != nullptr ? g_proc : opendir("/proc");
  if (proc == nullptr) return processes;
  rewinddir(proc);
  while (dirent* entry = readdir(proc)) {
    pid_t pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    if (pid <= 0) continue;
    char path[64];
    std::snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
      // A cell may have taken this process's right to open files. Its children it knows all the
      // same, and theirs become its own when it has killed them.
      if (errno == EMFILE && IsLivingChild(pid)) {
        processes.emplace(pid, ProcessRow{getpid(), getsid(pid), 'R', 1});
      }
      continue;
    }
    char text[512];
    ssize_t size = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (size <= 0) continue;
    text[size] = '\0';
    // The command name stands in parentheses and may itself contain any character.
    const char* after_name = std::strrchr(text, ')');
    ProcessRow row;
    // Fields 3, 4, 6 and 20 of proc(5).
    if (after_name != nullptr &&
        std::sscanf(after_name + 1,
                    " %c %d %*s %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %d",
                    &row.state, &row.parent, &row.session, &row.threads) == 4) {
      processes.emplace(pid, row);
    }
  }
  if (proc != g_proc) closedir(proc);
  return processes;
}

bool IsBelow(pid_t pid, pid_t ancestor, const std::set<pid_t>& kept,
             const std::unordered_map<pid_t, ProcessRow>& processes) {
  for (int depth = 0; depth < kDeepest; ++depth) {
    if (kept.contains(pid)) return false;
    auto row = processes.find(pid);
    if (row == processes.end()) return false;
    if (row->second.parent == ancestor) return true;
    pid = row->second.parent;
  }
  return false;
}

std::vector<pid_t> LivingDescendants(const std::set<pid_t>& kept) {
  auto processes = ReadProcesses();
  std::vector<pid_t> living;
  for (const auto& [pid, row] : processes) {
    if (row.lives() && IsBelow(pid, getpid(), kept, processes)) living.push_back(pid);
  }
  return living;
}

// Multiprocessing's process that removes shared memory and semaphores whose owners have died. It
// does so when the last of them has closed its end of a pipe.
bool IsResourceTracker(pid_t pid) {
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char text[4096];
  ssize_t size = read(fd, text, sizeof(text));
  close(fd);
  return size > 0 && std::string_view(text, static_cast<size_t>(size))
                             .find("multiprocessing.resource_tracker") != std::string_view::npos;
}

// Those of a session, and those below them that have left it.
std::vector<pid_t> LivingOfSession(pid_t leader) {
  auto processes = ReadProcesses();
  const auto belongs = [&](pid_t pid) {
    for (int depth = 0; depth < kDeepest; ++depth) {
      auto row = processes.find(pid);
      if (row == processes.end()) return false;
      if (row->second.session == leader) return true;
      pid = row->second.parent;
    }
    return false;
  };
  std::vector<pid_t> living;
  for (const auto& [pid, row] : processes) {
    if (row.lives() && belongs(pid)) living.push_back(pid);
  }
  return living;
}

// Kills again and again, with longer and longer pauses.
class Rounds {
 public:
  // False when there is none that may be signalled.
  bool Kill(const std::vector<pid_t>& living) {
    // Those that fork faster than they are found are stopped first. Keepers are among them: should
    // this process be killed before it has killed them, its death lets them go on.
    if (++round_ > 2) {
      for (pid_t pid : living) kill(pid, SIGSTOP);
    }
    // One that runs as another user (a setuid program) is not ours to end.
    size_t refused = 0;
    for (pid_t pid : living) refused += kill(pid, SIGKILL) != 0 && errno == EPERM;
    return refused < living.size();
  }
  void Pause() {
    poll(nullptr, 0, pause_);
    pause_ = std::min(2 * pause_, kLongestPauseMilliseconds);
  }

 private:
  int round_ = 0;
  int pause_ = kFirstPauseMilliseconds;
};

// Reaps whatever is dead but for those that are kept. False when there is no child left at all.
bool ReapDead(const std::set<pid_t>& kept) {
  while (true) {
    siginfo_t info = {};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return false;
    if (info.si_pid == 0 || kept.contains(info.si_pid)) return true;
    waitid(P_PID, static_cast<id_t>(info.si_pid), &info, WEXITED | WNOHANG);
  }
}

}  // namespace

bool IsLivingChild(pid_t pid) {
  siginfo_t info = {};
  return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == 0;
}

std::vector<pid_t> ChildrenOf(pid_t parent) {
  std::vector<pid_t> children;
  for (const auto& [pid, row] : ReadProcesses()) {
    if (row.parent == parent && row.lives()) children.push_back(pid);
  }
  return children;
}

void KeepProcOpen() { g_proc = opendir("/proc"); }

void BecomeSubreaper() { prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

// The signal also comes when only the thread that started this process has ended (prctl(2)). That
// rules out SIGKILL, but SIGCONT is nothing to a process that runs.
void ContinueWhenParentDies() { prctl(PR_SET_PDEATHSIG, SIGCONT); }

// Signal-driven I/O with SIGCONT in the place of SIGIO (F_SETSIG in fcntl(2)).
void ContinueWhenSocketStirs(int socket) {
  fcntl(socket, F_SETOWN, getpid());
  fcntl(socket, F_SETSIG, SIGCONT);
  fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_ASYNC);
}

void KillDescendants(const std::set<pid_t>& kept) {
  using Clock = std::chrono::steady_clock;
  auto end_of_grace = Clock::now() + kLongestGrace;
  bool are_alone = false;
  for (Rounds rounds; ReapDead(kept); rounds.Pause()) {
    std::vector<pid_t> living = LivingDescendants(kept);
    const auto now = Clock::now();
    if (!kept.empty() || now < end_of_grace) {
      const bool has_trackers = std::erase_if(living, IsResourceTracker) > 0;
      if (has_trackers && living.empty() && kept.empty()) {
        if (!std::exchange(are_alone, true)) {
          end_of_grace = std::min(end_of_grace, now + kTrackerGrace);
        }
        continue;
      }
    }
    // Should there be none that lives, all that is left are processes on their way out.
    if (!rounds.Kill(living) && (!living.empty() || !kept.empty())) return;
  }
}

bool ResourceTrackerLives(const std::set<pid_t>& kept) {
  const std::vector<pid_t> living = LivingDescendants(kept);
  return std::any_of(living.begin(), living.end(), IsResourceTracker);
}

void KillSession(pid_t leader) {
  for (Rounds rounds; rounds.Kill(LivingOfSession(leader)); rounds.Pause()) {
  }
}

void KillLivingDescendants(const std::set<pid_t>& kept) {
  for (pid_t pid : LivingDescendants(kept)) {
    if (!IsResourceTracker(pid)) kill(pid, SIGKILL);
  }
}

}  // namespace cellar::embed
