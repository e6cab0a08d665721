#include "host/console/standard_output.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "host/base/fds.h"
#include "host/base/status.h"
#include "host/console/complain.h"
#include "host/console/exit_codes.h"

namespace cellar::host {

namespace {

// Why standard output could not be written earlier: nobody has kept the errno of then.
int ErrorOfStandardOutput() {
  pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
  const bool reader_gone = poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
  return reader_gone ? EPIPE : EIO;
}

}  // namespace

int ComplainOfLostOutput(int error) {
  if (error == EPIPE) return kExitReaderGone;
  Complain(ErrnoStatus(error, "writing standard output"));
  return kExitCannotRun;
}

int WriteOut(std::string_view text) {
  return WriteAll(STDOUT_FILENO, text) ? kExitFine : ComplainOfLostOutput(errno);
}

int ExitCodeAfterOutput(int exit_code) {
  const bool lost_before = std::ferror(stdout) != 0;
  const bool lost_now = std::fflush(stdout) != 0;
  if (exit_code != kExitFine || (!lost_before && !lost_now)) return exit_code;
  return ComplainOfLostOutput(lost_now ? errno : ErrorOfStandardOutput());
}

}  // namespace cellar::host
