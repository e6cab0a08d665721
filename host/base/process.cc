#include "host/base/process.h"

#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>

#include "host/base/fds.h"

namespace cellar {
namespace {

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 2);
  for (const std::string& s : strings) pointers.push_back(const_cast<char*>(s.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

absl::StatusOr<ChildProcess> Spawn(const SpawnOptions& options) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  sigset_t all;
  sigfillset(&all);
  posix_spawnattr_setsigdefault(&attributes, &all);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (!options.cwd.empty()) {
    posix_spawn_file_actions_addchdir_np(&actions, options.cwd.c_str());
  }
  int highest = 2;
  for (auto [from, to] : options.fds) {
    posix_spawn_file_actions_adddup2(&actions, from, to);
    highest = std::max(highest, to);
  }
  posix_spawn_file_actions_addclosefrom_np(&actions, highest + 1);

  std::vector<char*> argv = Pointers(options.args);
  argv.insert(argv.begin(), const_cast<char*>(options.program.c_str()));
  std::vector<char*> environment = Pointers(options.environment);
  ChildProcess child;
  int error = posix_spawn(&child.pid, options.program.c_str(), &actions, &attributes, argv.data(),
                          environment.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return ErrnoStatus(error, "starting " + options.program);
  absl::StatusOr<UniqueFd> pidfd = OpenPidfd(child.pid);
  if (!pidfd.ok()) {
    kill(child.pid, SIGKILL);
    waitpid(child.pid, nullptr, 0);
    return pidfd.status();
  }
  child.pidfd = *std::move(pidfd);
  return child;
}

pid_t ParentOf(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text, '\0');
  // The command's name stands in parentheses and may itself contain any character.
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_end + 1));
  char state = 0;
  pid_t parent = 0;
  fields >> state >> parent;
  return parent;
}

absl::StatusOr<UniqueFd> OpenPidfd(pid_t pid) {
  UniqueFd fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!fd) return ErrnoStatus(errno, "opening a pidfd");
  return MoveHigh(std::move(fd));
}

bool SignalPidfd(int pidfd, int signal) {
  return syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0) == 0;
}

}  // namespace cellar
