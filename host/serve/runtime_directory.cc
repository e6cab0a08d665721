#include "host/serve/runtime_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/time/clock.h"
#include "host/base/clock.h"
#include "host/base/fds.h"

namespace cellar::host {
namespace {

constexpr absl::Duration kLockRetry = absl::Milliseconds(5);

std::string PathFor(const Environment& env) {
  const std::string runtime = EnvironmentValue(env, "XDG_RUNTIME_DIR");
  // It may name one that is not there: after su, in cron, in a container.
  if (runtime.starts_with('/') && access(runtime.c_str(), F_OK) == 0) return runtime + "/cellar";
  return "/tmp/cellar-" + std::to_string(geteuid());
}

absl::Status CheckIsOurs(int fd, const std::string& path) {
  struct stat info;
  if (fstat(fd, &info) != 0) return ErrnoStatus(errno, "looking at " + path);
  if (info.st_uid != geteuid()) {
    return absl::PermissionDeniedError(path + " belongs to another user");
  }
  if ((info.st_mode & 077) != 0) {
    return absl::PermissionDeniedError(path + " lets other users in; its mode must be 0700");
  }
  return absl::OkStatus();
}

}  // namespace

std::string RuntimeDirectory::Reach(const char* name) const {
  return "/proc/self/fd/" + std::to_string(fd.get()) + "/" + name;
}

sockaddr_un RuntimeDirectory::AddressOf(const char* name) const {
  sockaddr_un address = {.sun_family = AF_UNIX};
  const std::string path = Reach(name);
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  return address;
}

absl::StatusOr<RuntimeDirectory> OpenRuntimeDirectory(const Environment& env) {
  RuntimeDirectory directory = {.path = PathFor(env)};
  if (mkdir(directory.path.c_str(), 0700) != 0 && errno != EEXIST) {
    return ErrnoStatus(errno, "making " + directory.path);
  }
  UniqueFd fd(open(directory.path.c_str(), O_DIRECTORY | O_NOFOLLOW | O_RDONLY | O_CLOEXEC));
  if (!fd && (errno == ELOOP || errno == ENOTDIR)) {
    return absl::PermissionDeniedError(directory.path + " is not a directory");
  }
  if (!fd) return ErrnoStatus(errno, "opening " + directory.path);
  CELLAR_RETURN_IF_ERROR(CheckIsOurs(fd.get(), directory.path));
  CELLAR_ASSIGN_OR_RETURN(directory.fd, MoveHigh(std::move(fd)));
  return directory;
}

absl::StatusOr<UniqueFd> LockFile(const RuntimeDirectory& directory, const char* name,
                                  absl::Duration limit) {
  UniqueFd file(openat(directory.fd.get(), name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return ErrnoStatus(errno, "opening " + directory.path + "/" + name);
  const absl::Time deadline = MonotonicNow() + limit;
  while (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return ErrnoStatus(errno, "locking " + directory.path + "/" + name);
    }
    if (MonotonicNow() > deadline) {
      return absl::DeadlineExceededError(directory.path + "/" + name + " is locked");
    }
    absl::SleepFor(kLockRetry);
  }
  return MoveHigh(std::move(file));
}

}  // namespace cellar::host
