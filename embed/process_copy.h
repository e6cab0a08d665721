// The fork behind a copy of a worker. Nobody sees a child come or go: neither a wait() nor a
// SIGCHLD handler of the original.
#pragma once

#include <sys/types.h>

#include <string>

namespace cellar::embed {

// A keeper of the copy's own, to be started in between.
struct CopyKeeper {
  int host_socket;
  int host_alive;  // a pidfd
  std::string library_directory;
};

struct ProcessCopy {
  bool in_copy = false;
  pid_t pid = -1;     // of the copy; in the original
  pid_t keeper = -1;  // of its keeper, if it has one
  int error = 0;      // errno, when there is no copy
  // In the copy: a child that the original may still have for a moment, and that made the fork.
  pid_t helper = -1;
};

// Forks. The copy has a process group of its own and is a child of the original's nearest
// subreaper, or of `keeper`. Only on the main thread, inside PyOS_BeforeFork and its counterparts.
ProcessCopy ForkCopy(const CopyKeeper* keeper);

}  // namespace cellar::embed
