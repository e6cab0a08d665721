// A library to be preloaded that makes the calls of a program fail as a machine in need would.
//
// clang-format off
//   CELLAR_FAULT_COUNT=FILE    where the calls that acquire something are counted by their names, over all processes;
//                              struct Kind MOST_KINDS times, zeros at first
//   CELLAR_FAULT_AT=NAME:N     the N-th of those calls of that name fails with the error that is usual for it
//   CELLAR_FAULT_ALLOCATORS=0  but not those by which an allocator gets its memory
//   CELLAR_FAULT_SHORT=1       reads and writes of streams move half of what they could
//   CELLAR_FAULT_SLOW=NAME     processes of that name lose their processor for a while whenever they fork, open a process or
//                              a signal's descriptor, or send a message
//   CELLAR_FAULT_CLOCK=1       the system's clock jumps an hour forth and back with each look at it
// clang-format on
//
// What a program executes is left alone, unless it executes itself.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
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

#define MOST_PARTS 8  // of a message
#define MOST_KINDS 32
#define SLOW_NANOSECONDS 20000000

// As the file has it.
struct Kind {
  atomic_ulong name;  // its first eight letters
  atomic_ulong count;
};
static struct Kind own[MOST_KINDS];
static struct Kind* kinds = own;
static unsigned long fails_in;  // a name as above, or 0
static unsigned long fails_at;
static int spares_allocators;
static int is_short;
static int is_clock;
static const char* slow;  // a name, or null

static unsigned long Packed(const char* name, size_t length) {
  unsigned long packed = 0;
  memcpy(&packed, name, length < sizeof(packed) ? length : sizeof(packed));
  return packed;
}

#define MOST_SETTINGS 8
static char* settings[MOST_SETTINGS];  // as they stood in the environment
static int setting_count;

// What is left in the environment is inherited by whatever cells start.
static void TakeSettings(void) {
  for (char** variable = environ; *variable && setting_count < MOST_SETTINGS;) {
    const char* end = strchr(*variable, '=');
    if (!end ||
        (strncmp(*variable, "LD_PRELOAD=", 11) && strncmp(*variable, "CELLAR_FAULT_", 13))) {
      ++variable;
      continue;
    }
    char name[64] = {0};
    settings[setting_count++] = *variable;
    unsetenv(strncpy(name, *variable, end - *variable));  // the next one moves here
  }
}

__attribute__((constructor)) static void Begin(void) {
  const char* file = getenv("CELLAR_FAULT_COUNT");
  const char* at = getenv("CELLAR_FAULT_AT");
  spares_allocators = getenv("CELLAR_FAULT_ALLOCATORS") != NULL;
  is_short = getenv("CELLAR_FAULT_SHORT") != NULL;
  is_clock = getenv("CELLAR_FAULT_CLOCK") != NULL;
  slow = getenv("CELLAR_FAULT_SLOW");
  int fd = file ? (open)(file, O_RDWR | O_CLOEXEC) : -1;
  if (fd >= 0) {
    void* memory = (mmap)(NULL, sizeof(own), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory != MAP_FAILED) kinds = memory;
    close(fd);
  }
  if (at) {
    const char* colon = strchr(at, ':');
    fails_in = Packed(at, colon - at);
    fails_at = strtoul(colon + 1, NULL, 10);
  }
  TakeSettings();
}

// Whether this is the call that is to fail; errno is set then.
#define Fails(error) FailsIn(__func__, error)
static int FailsIn(const char* function, int error) {
  const unsigned long name = Packed(function, strlen(function));
  struct Kind* kind = kinds;
  for (unsigned long there = 0; kind < kinds + MOST_KINDS; ++kind, there = 0) {
    if (atomic_compare_exchange_strong(&kind->name, &there, name) || there == name) break;
  }
  if (kind == kinds + MOST_KINDS) abort();
  const unsigned long number = atomic_fetch_add(&kind->count, 1) + 1;
  if (name != fails_in || number != fails_at) return 0;
  errno = error;
  return 1;
}

static void Linger(void) {
  char name[16] = {0};
  const struct timespec while_away = {.tv_nsec = SLOW_NANOSECONDS};
  if (slow && prctl(PR_GET_NAME, name) == 0 && strcmp(name, slow) == 0)
    nanosleep(&while_away, NULL);
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
  if (number == SYS_pidfd_open) {
    Linger();
    if (Fails(EMFILE)) return -1;
  }
  return next(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}

int signalfd(int fd, const sigset_t* mask, int flags) {
  NEXT(signalfd);
  Linger();
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
  Linger();
  return Fails(EAGAIN) ? -1 : next();
}

// As embed/process_copy.cc calls it: without the arguments that are left out here.
int clone(int (*run)(void*), void* stack, int flags, void* argument, ...) {
  NEXT(clone);
  return Fails(EAGAIN) ? -1 : next(run, stack, flags, argument);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* argument) {
  NEXT(pthread_create);
  return Fails(EAGAIN) ? EAGAIN : next(thread, attributes, run, argument);
}

// Called in a process that shares its parent's memory: nothing is allocated.
int execve(const char* path, char* const arguments[], char* const environment[]) {
  NEXT(execve);
  if (strcmp(path, "/proc/self/exe") != 0) return next(path, arguments, environment);
  if (Fails(ENOMEM)) return -1;
  char* extended[16];
  int size = 0;
  for (int i = 0; i < setting_count; ++i) extended[size++] = settings[i];
  for (int i = 0; environment[i] && size < 15; ++i) extended[size++] = environment[i];
  extended[size] = NULL;
  return next(path, arguments, extended);
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

// Packets are moved whole or not at all, and what counts events is eight bytes or nothing.
static int IsStream(int fd) {
  int type = SOCK_STREAM;
  socklen_t length = sizeof(type);
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type != SOCK_STREAM) return 0;
  struct stat status;
  return fstat(fd, &status) == 0 &&
         (S_ISSOCK(status.st_mode) || S_ISFIFO(status.st_mode) || S_ISREG(status.st_mode));
}

static size_t ShortWrite(int fd, size_t size) {
  return is_short && size > 1 && IsStream(fd) ? size / 2 : size;
}

// Of what has arrived; a buffer of half the size may still be large enough for all of it.
static size_t ShortRead(int fd, size_t size) {
  int arrived = 0;
  if (!is_short || size < 2 || !IsStream(fd)) return size;
  if (ioctl(fd, FIONREAD, &arrived) != 0 || arrived < 2) return size / 2;
  return (size < (size_t)arrived ? size : (size_t)arrived) / 2;
}

// The same message, cut to `size` bytes. Descriptors travel with the first of them.
static struct msghdr Cut(const struct msghdr* message, size_t size, struct iovec* parts) {
  struct msghdr cut = *message;
  cut.msg_iov = parts;
  cut.msg_iovlen = 0;
  for (size_t i = 0; i < message->msg_iovlen && size > 0; ++i) {
    parts[i] = message->msg_iov[i];
    if (parts[i].iov_len > size) parts[i].iov_len = size;
    size -= parts[i].iov_len;
    cut.msg_iovlen = i + 1;
  }
  return cut;
}

static size_t SizeOf(const struct msghdr* message) {
  size_t size = 0;
  for (size_t i = 0; i < message->msg_iovlen; ++i) size += message->msg_iov[i].iov_len;
  return size;
}

ssize_t read(int fd, void* data, size_t size) {
  NEXT(read);
  return next(fd, data, ShortRead(fd, size));
}

ssize_t write(int fd, const void* data, size_t size) {
  NEXT(write);
  if (!is_short && IsFile(fd) && Fails(ENOSPC)) return -1;
  return next(fd, data, ShortWrite(fd, size));
}

ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) {
  NEXT(pwrite);
  return Fails(ENOSPC) ? -1 : next(fd, data, ShortWrite(fd, size), offset);
}

ssize_t recv(int fd, void* data, size_t size, int flags) {
  NEXT(recv);
  return next(fd, data, ShortRead(fd, size), flags);
}

ssize_t send(int fd, const void* data, size_t size, int flags) {
  NEXT(send);
  return next(fd, data, ShortWrite(fd, size), flags);
}

ssize_t recvmsg(int fd, struct msghdr* message, int flags) {
  NEXT(recvmsg);
  const size_t size = SizeOf(message), moved = ShortRead(fd, size);
  if (moved == size || message->msg_iovlen > MOST_PARTS) return next(fd, message, flags);
  struct iovec parts[MOST_PARTS];
  struct iovec* const whole = message->msg_iov;
  const size_t count = message->msg_iovlen;
  *message = Cut(message, moved, parts);
  const ssize_t result = next(fd, message, flags);
  message->msg_iov = whole;
  message->msg_iovlen = count;
  return result;
}

ssize_t sendmsg(int fd, const struct msghdr* message, int flags) {
  NEXT(sendmsg);
  Linger();
  const size_t size = SizeOf(message), moved = ShortWrite(fd, size);
  // A small message that is not to wait is taken whole or not at all, as Linux has it.
  if (moved == size || message->msg_iovlen > MOST_PARTS || (flags & MSG_DONTWAIT))
    return next(fd, message, flags);
  struct iovec parts[MOST_PARTS];
  const struct msghdr cut = Cut(message, moved, parts);
  return next(fd, &cut, flags);
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
