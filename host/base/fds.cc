#include "host/base/fds.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace cellar {
namespace {

// Below the usual soft limit of 1024, above what `os.closerange(3, 256)` and its like reach.
constexpr int kHighFd = 640;

rlim_t g_open_files_before = 0;

int LowestHighFd() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 3;
  return static_cast<int>(std::min<rlim_t>(kHighFd, limit.rlim_cur / 2));
}

}  // namespace

absl::StatusOr<UniqueFd> MoveHigh(UniqueFd fd) {
  UniqueFd high(fcntl(fd.get(), F_DUPFD_CLOEXEC, LowestHighFd()));
  if (!high) return ErrnoStatus(errno, "moving a file descriptor");
  return high;
}

absl::Status SetNonBlocking(int fd, bool on) {
  int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK) != 0) {
    return ErrnoStatus(errno, "changing O_NONBLOCK");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::pair<UniqueFd, UniqueFd>> MakeSocketPair(int type) {
  int fds[2];
  if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds) != 0) {
    return ErrnoStatus(errno, "creating a socket pair");
  }
  UniqueFd a(fds[0]);
  UniqueFd b(fds[1]);
  CELLAR_ASSIGN_OR_RETURN(UniqueFd high_a, MoveHigh(std::move(a)));
  CELLAR_ASSIGN_OR_RETURN(UniqueFd high_b, MoveHigh(std::move(b)));
  return std::pair(std::move(high_a), std::move(high_b));
}

absl::StatusOr<Pipe> MakePipe() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return ErrnoStatus(errno, "creating a pipe");
  UniqueFd read(fds[0]);
  UniqueFd write(fds[1]);
  CELLAR_ASSIGN_OR_RETURN(UniqueFd high_read, MoveHigh(std::move(read)));
  CELLAR_ASSIGN_OR_RETURN(UniqueFd high_write, MoveHigh(std::move(write)));
  CELLAR_RETURN_IF_ERROR(SetNonBlocking(high_read.get(), true));
  return Pipe{std::move(high_read), std::move(high_write)};
}

void FillStandardDescriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) (void)!open("/dev/null", O_RDONLY);  // takes the lowest number
  }
}

void RaiseOpenFileLimit() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != limit.rlim_max) {
    const rlim_t before = std::exchange(limit.rlim_cur, limit.rlim_max);
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0) g_open_files_before = before;
  }
  // The kernel's table of descriptors grows now, while there is one thread: with more it waits for
  // all processors to have noticed, some 10 ms (expand_fdtable in fs/file.c).
  (void)MoveHigh(UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC)));
}

uint64_t OpenFileLimitBefore() { return g_open_files_before; }

uint64_t UnreadBytes(int pipe) {
  int bytes = 0;
  return ioctl(pipe, FIONREAD, &bytes) == 0 ? static_cast<uint64_t>(bytes) : 0;
}

bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t written = write(fd, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd ready = {fd, POLLOUT, 0};
      poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

absl::StatusOr<UniqueFd> MakeSealedMemory(const char* name, size_t size) {
  UniqueFd fd(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd || ftruncate(fd.get(), static_cast<off_t>(size)) != 0 ||
      fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return ErrnoStatus(errno, "creating shared memory");
  }
  return MoveHigh(std::move(fd));
}

absl::StatusOr<UniqueFd> MakeMemoryFile(const char* name) {
  UniqueFd fd(memfd_create(name, MFD_CLOEXEC));
  if (!fd) return ErrnoStatus(errno, "creating a memory file");
  return MoveHigh(std::move(fd));
}

}  // namespace cellar
