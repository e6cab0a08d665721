#include "host/runtime/probe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "host/base/clock.h"
#include "host/base/fds.h"
#include "host/base/process.h"
#include "host/base/status.h"
#include "host/base/unique_fd.h"

namespace cellar::host {
namespace {

constexpr size_t kMaxOutputBytes = 1 << 16;

// A shim may write lines of its own before the answer.
constexpr std::string_view kMarker = "\ncellar-probe\n";
constexpr char kScript[] =
    "import sys; sys.stdout.write('\\ncellar-probe\\n' + '\\n'.join(["
    "sys.implementation.name, '%d.%d.%d' % sys.version_info[:3], sys.executable, "
    "sys.base_prefix, '']))";

// Kills and reaps the child, and whatever it started, when the scope ends.
class ScopedChild {
 public:
  explicit ScopedChild(ChildProcess child) : child_(std::move(child)) {}
  ScopedChild(const ScopedChild&) = delete;
  ScopedChild& operator=(const ScopedChild&) = delete;
  ~ScopedChild() {
    kill(-child_.pid, SIGKILL);  // not reaped yet, so the group's number is still its own
    while (waitpid(child_.pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  int pidfd() const { return child_.pidfd.get(); }

 private:
  ChildProcess child_;
};

absl::StatusOr<ChildProcess> Start(const ProbeOptions& options, int output) {
  UniqueFd opened(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!opened) return ErrnoStatus(errno, "opening /dev/null");
  CELLAR_ASSIGN_OR_RETURN(UniqueFd input, MoveHigh(std::move(opened)));
  SpawnOptions spawn;
  spawn.program = options.executable;
  spawn.args = {"-I", "-S", "-c", kScript};
  spawn.cwd = options.cwd;
  for (const auto& [name, value] : options.env) {
    spawn.environment.push_back(absl::StrCat(name, "=", value));
  }
  spawn.fds = {{input.get(), 0}, {output, 1}, {output, 2}};
  return Spawn(spawn);
}

// False at the end of the output; true when there may be more later.
bool ReadAvailable(int fd, std::string& text) {
  char buffer[4096];
  while (text.size() < kMaxOutputBytes) {
    const ssize_t count = read(fd, buffer, sizeof(buffer));
    if (count > 0) {
      text.append(buffer, static_cast<size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      return count != 0 && errno == EAGAIN;
    }
  }
  return false;
}

// Until the child ends or closes its output. Its end alone is enough: what it started in the
// background may hold the output open.
absl::Status Collect(int output, int pidfd, const ProbeOptions& options, std::string& text) {
  while (true) {
    const absl::Duration left = options.deadline - MonotonicNow();
    if (left <= absl::ZeroDuration())
      return absl::DeadlineExceededError("it did not answer in time");
    const int64_t left_ms = absl::ToInt64Milliseconds(absl::Ceil(left, absl::Milliseconds(1)));
    pollfd fds[] = {{output, POLLIN, 0}, {pidfd, POLLIN, 0}, {options.cancel, POLLIN, 0}};
    if (poll(fds, 3, static_cast<int>(std::min<int64_t>(left_ms, 60'000))) < 0 && errno != EINTR) {
      return ErrnoStatus(errno, "waiting for an answer");
    }
    if (fds[2].revents != 0) return absl::CancelledError("nobody waits for the answer");
    if (!ReadAvailable(output, text) || fds[1].revents != 0) return absl::OkStatus();
  }
}

absl::StatusOr<ProbeAnswer> ParseAnswer(const std::string& text) {
  const size_t marker = text.rfind(kMarker);
  if (marker != std::string::npos) {
    const std::vector<std::string> lines =
        absl::StrSplit(text.substr(marker + kMarker.size()), '\n');
    if (lines.size() >= 4) {
      return ProbeAnswer{.implementation = lines[0],
                         .version = lines[1],
                         .executable = lines[2],
                         .base_prefix = lines[3]};
    }
  }
  // The first line says what is wrong; a version manager's advice follows it.
  const std::vector<std::string> lines = absl::StrSplit(absl::StripAsciiWhitespace(text), '\n');
  const absl::string_view first = absl::StripAsciiWhitespace(lines.front());
  return absl::FailedPreconditionError(first.empty()
                                           ? "it did not answer and wrote nothing"
                                           : absl::StrCat("it did not answer and wrote: ", first));
}

}  // namespace

absl::StatusOr<ProbeAnswer> ProbePython(const ProbeOptions& options) {
  CELLAR_ASSIGN_OR_RETURN(Pipe pipe, MakePipe());
  CELLAR_ASSIGN_OR_RETURN(ChildProcess started, Start(options, pipe.write.get()));
  const ScopedChild child(std::move(started));
  pipe.write.reset();
  std::string text;
  absl::Status collected = Collect(pipe.read.get(), child.pidfd(), options, text);
  absl::StatusOr<ProbeAnswer> answer = collected.ok() ? ParseAnswer(text) : collected;
  if (answer.ok()) return answer;
  return absl::Status(answer.status().code(),
                      absl::StrCat("running ", options.executable,
                                   " to learn its version: ", answer.status().message()));
}

}  // namespace cellar::host
