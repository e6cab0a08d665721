// Preloaded into cellar and its workers: fork and posix_spawn fail as they do on a machine that has
// no room for another process. Each byte of the file $CELLAR_TEST_FORK_FAILURES is one failure, its
// value the errno; whoever fails takes a byte away.
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace {

// The errno to fail with; 0 = do not fail.
int TakeFailure() {
  const char* path = getenv("CELLAR_TEST_FORK_FAILURES");
  const int fd = path == nullptr ? -1 : open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return 0;
  unsigned char error = 0;
  flock(fd, LOCK_EX);
  const off_t size = lseek(fd, 0, SEEK_END);
  if (size > 0 && (pread(fd, &error, 1, size - 1) != 1 || ftruncate(fd, size - 1) != 0)) abort();
  close(fd);
  return error;
}

}  // namespace

extern "C" pid_t fork() {
  if (const int error = TakeFailure(); error != 0) {
    errno = error;
    return -1;
  }
  static const auto real = reinterpret_cast<pid_t (*)()>(dlsym(RTLD_NEXT, "fork"));
  return real();
}

extern "C" int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                           const posix_spawnattr_t* attributes, char* const argv[],
                           char* const environment[]) {
  if (const int error = TakeFailure(); error != 0) return error;
  static const auto real =
      reinterpret_cast<decltype(&posix_spawn)>(dlsym(RTLD_NEXT, "posix_spawn"));
  return real(pid, path, actions, attributes, argv, environment);
}
