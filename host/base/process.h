// Starting programs and holding them by pidfd, so that no signal ever goes to a pid that was given
// out again.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "host/base/status.h"
#include "host/base/unique_fd.h"

namespace cellar {

struct SpawnOptions {
  std::string program;
  std::vector<std::string> args;         // without argv[0], which is `program`
  std::vector<std::string> environment;  // "K=V"
  std::string cwd;                       // empty = the parent's
  // Parent's descriptor -> number in the child. Everything else above the highest of them is
  // closed. Sources must not be among the target numbers (descriptors made by fds.h never are).
  std::vector<std::pair<int, int>> fds;
};

struct ChildProcess {
  pid_t pid = -1;
  UniqueFd pidfd;
};

// posix_spawn in a new session, with an empty signal mask and default dispositions, so that a host
// with threads, blocked or ignored signals leaks none of that.
absl::StatusOr<ChildProcess> Spawn(const SpawnOptions& options);

// 0 when the process is gone. Reads /proc.
pid_t ParentOf(pid_t pid);

absl::StatusOr<UniqueFd> OpenPidfd(pid_t pid);

// True when the signal was delivered; false when the process is gone.
bool SignalPidfd(int pidfd, int signal);

}  // namespace cellar
