#include "host/console/standard_output.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "host/base/fds.h"
#include "host/base/status.h"
#include "host/console/complain.h"
#include "host/console/exit_codes.h"

namespace cellar::host {

int ExitCodeOfLostOutput(int error) {
  if (error == EPIPE) return 128 + SIGPIPE;
  Complain(ErrnoStatus(error, "writing standard output"));
  return kExitCannotRun;
}

int WriteOut(std::string_view text) {
  return WriteAll(STDOUT_FILENO, text) ? kExitFine : ExitCodeOfLostOutput(errno);
}

int ExitCodeAfterOutput(int exit_code) {
  const bool written = std::fflush(stdout) == 0;
  return written || exit_code != kExitFine ? exit_code : ExitCodeOfLostOutput(errno);
}

}  // namespace cellar::host
