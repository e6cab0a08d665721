// A library to be preloaded that makes the calls of a program fail as a machine in need would.
//
// clang-format off
//   CELLAR_FAULT_COUNT=FILE    eight bytes in which the calls that acquire something are counted, over all processes
//   CELLAR_FAULT_AT=N          the N-th of those calls fails with the error that is usual for it
//   CELLAR_FAULT_ALLOCATORS=0  but not those by which an allocator gets its memory
//   CELLAR_FAULT_SHORT=1       reads and writes of streams move half of what they could
//   CELLAR_FAULT_CLOCK=1       the system's clock jumps an hour forth and back with each look at it
// clang-format on
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NEXT(name)               \
  static __typeof__(&name) next; \
  if (!next) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

// As the file has it.
struct Shared {
  atomic_ulong count;
  char failed[56];  // the name of the call that failed
};
static struct Shared own;
static struct Shared* shared = &own;
static unsigned long fails_at;
static int spares_allocators;
static int is_short;
static int is_clock;

__attribute__((constructor)) static void Begin(void) {
  const char* file = getenv("CELLAR_FAULT_COUNT");
  const char* at = getenv("CELLAR_FAULT_AT");
  spares_allocators = getenv("CELLAR_FAULT_ALLOCATORS") != NULL;
  is_short = getenv("CELLAR_FAULT_SHORT") != NULL;
  is_clock = getenv("CELLAR_FAULT_CLOCK") != NULL;
  int fd = file ? (open)(file, O_RDWR | O_CLOEXEC) : -1;
  if (fd >= 0) {
    void* memory = (mmap)(NULL, sizeof(own), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory != MAP_FAILED) shared = memory;
    close(fd);
  }
  atomic_store(&shared->count, 0);
  fails_at = at ? strtoul(at, NULL, 10) : 0;
}

// Whether this is the call that is to fail; errno is set then.
#define Fails(error) FailsIn(__func__, error)
static int FailsIn(const char* name, int error) {
  if (atomic_fetch_add(&shared->count, 1) + 1 != fails_at) return 0;
  strncpy(shared->failed, name, sizeof(shared->failed) - 1);
  errno = error;
  return 1;
}

int socket(int domain, int type, int protocol) {
  NEXT(socket);
  return Fails(EMFILE) ? -1 : next(domain, type, protocol);
}

int socketpair(int domain, int type, int protocol, int fds[2]) {
  NEXT(socketpair);
  return Fails(EMFILE) ? -1 : next(domain, type, protocol, fds);
}

int accept4(int fd, struct sockaddr* address, socklen_t* length, int flags) {
  NEXT(accept4);
  return Fails(EMFILE) ? -1 : next(fd, address, length, flags);
}

int pipe2(int fds[2], int flags) {
  NEXT(pipe2);
  return Fails(EMFILE) ? -1 : next(fds, flags);
}

int eventfd(unsigned int value, int flags) {
  NEXT(eventfd);
  return Fails(EMFILE) ? -1 : next(value, flags);
}

int epoll_create1(int flags) {
  NEXT(epoll_create1);
  return Fails(EMFILE) ? -1 : next(flags);
}

int epoll_ctl(int epoll, int operation, int fd, struct epoll_event* event) {
  NEXT(epoll_ctl);
  return operation == EPOLL_CTL_ADD && Fails(ENOMEM) ? -1 : next(epoll, operation, fd, event);
}

int memfd_create(const char* name, unsigned int flags) {
  NEXT(memfd_create);
  return Fails(EMFILE) ? -1 : next(name, flags);
}

int ftruncate(int fd, off_t length) {
  NEXT(ftruncate);
  return Fails(ENOSPC) ? -1 : next(fd, length);
}

// The host's own way to open a pidfd.
long syscall(long number, ...) {
  NEXT(syscall);
  long argument[6];
  va_list rest;
  va_start(rest, number);
  for (int i = 0; i < 6; ++i) argument[i] = va_arg(rest, long);
  va_end(rest);
  if (number == SYS_pidfd_open && Fails(EMFILE)) return -1;
  return next(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}

int signalfd(int fd, const sigset_t* mask, int flags) {
  NEXT(signalfd);
  return Fails(EMFILE) ? -1 : next(fd, mask, flags);
}

int mkostemp(char* path, int flags) {
  NEXT(mkostemp);
  return Fails(ENOSPC) ? -1 : next(path, flags);
}

int dup(int fd) {
  NEXT(dup);
  return Fails(EMFILE) ? -1 : next(fd);
}

int open(const char* path, int flags, ...) {
  NEXT(open);
  va_list rest;
  va_start(rest, flags);
  mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return Fails(EMFILE) ? -1 : next(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  NEXT(openat);
  va_list rest;
  va_start(rest, flags);
  mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return Fails(EMFILE) ? -1 : next(folder, path, flags, mode);
}

int fcntl(int fd, int command, ...) {
  NEXT(fcntl);
  va_list rest;
  va_start(rest, command);
  void* argument = va_arg(rest, void*);
  va_end(rest);
  const int acquires = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
  return acquires && Fails(EMFILE) ? -1 : next(fd, command, argument);
}

void* mmap(void* address, size_t length, int protection, int flags, int fd, off_t offset) {
  NEXT(mmap);
  // Memory without a file is an allocator's.
  if (fd < 0 && spares_allocators) return next(address, length, protection, flags, fd, offset);
  return Fails(ENOMEM) ? MAP_FAILED : next(address, length, protection, flags, fd, offset);
}

pid_t fork(void) {
  NEXT(fork);
  return Fails(EAGAIN) ? -1 : next();
}

int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const arguments[],
                char* const environment[]) {
  NEXT(posix_spawn);
  return Fails(EAGAIN) ? EAGAIN : next(pid, path, actions, attributes, arguments, environment);
}

int mkdir(const char* path, mode_t mode) {
  NEXT(mkdir);
  return Fails(ENOSPC) ? -1 : next(path, mode);
}

static int IsFile(int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

// Packets are moved whole or not at all.
static size_t Shortened(int fd, size_t size) {
  if (!is_short || size < 2) return size;
  int type = SOCK_STREAM;
  socklen_t length = sizeof(type);
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type != SOCK_STREAM) return size;
  struct stat status;
  // What counts events is eight bytes or nothing.
  const int is_stream =
      fstat(fd, &status) == 0 &&
      (S_ISSOCK(status.st_mode) || S_ISFIFO(status.st_mode) || S_ISREG(status.st_mode));
  return is_stream ? size / 2 : size;
}

ssize_t read(int fd, void* data, size_t size) {
  NEXT(read);
  return next(fd, data, Shortened(fd, size));
}

ssize_t write(int fd, const void* data, size_t size) {
  NEXT(write);
  if (!is_short && IsFile(fd) && Fails(ENOSPC)) return -1;
  return next(fd, data, Shortened(fd, size));
}

ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) {
  NEXT(pwrite);
  return Fails(ENOSPC) ? -1 : next(fd, data, Shortened(fd, size), offset);
}

ssize_t recv(int fd, void* data, size_t size, int flags) {
  NEXT(recv);
  return next(fd, data, Shortened(fd, size), flags);
}

ssize_t send(int fd, const void* data, size_t size, int flags) {
  NEXT(send);
  return next(fd, data, Shortened(fd, size), flags);
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  NEXT(clock_gettime);
  static atomic_uint looks;
  const int result = next(clock, time);
  if (is_clock && clock == CLOCK_REALTIME)
    time->tv_sec += atomic_fetch_add(&looks, 1) % 2 ? 3600 : -3600;
  return result;
}

int gettimeofday(struct timeval* restrict time, void* restrict zone) {
  NEXT(gettimeofday);
  struct timespec now;
  const int result = next(time, zone);
  if (is_clock && clock_gettime(CLOCK_REALTIME, &now) == 0) time->tv_sec = now.tv_sec;
  return result;
}
