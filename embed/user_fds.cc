#include "embed/user_fds.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <optional>

#include "host/base/unique_fd.h"

namespace cellar::embed {
namespace {

// /dev/null, /dev/zero, /dev/urandom and the like: nothing in them belongs to anyone.
constexpr unsigned kMemoryDevices = 1;

std::string ProcPath(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

// What the kernel calls it: a path, "socket:[1]", "anon_inode:[eventpoll]".
std::string NameOf(int fd) {
  char name[4096];
  ssize_t size = readlink(ProcPath(fd).c_str(), name, sizeof(name));
  return std::string(name, size > 0 ? static_cast<size_t>(size) : 0);
}

UserFd::Kind AnonymousKind(int fd) {
  std::string name = NameOf(fd);
  if (name == "anon_inode:[eventpoll]") return UserFd::Kind::kEpoll;
  if (name == "anon_inode:[eventfd]") return UserFd::Kind::kEventfd;
  return UserFd::Kind::kDead;
}

// Nothing for one that a copy can simply keep.
std::optional<UserFd> Examine(int number, uint64_t out_inode, uint64_t err_inode) {
  struct stat info;
  UserFd fd = {.number = number, .status_flags = fcntl(number, F_GETFL)};
  if (fd.status_flags < 0 || (fd.status_flags & O_PATH) != 0 || fstat(number, &info) != 0) {
    return std::nullopt;
  }
  fd.close_on_exec = (fcntl(number, F_GETFD) & FD_CLOEXEC) != 0;
  switch (info.st_mode & S_IFMT) {
    case S_IFREG:
    case S_IFDIR:
      fd.kind = UserFd::Kind::kFile;
      fd.offset = lseek(number, 0, SEEK_CUR);
      break;
    case S_IFCHR:
      if (major(info.st_rdev) == kMemoryDevices) return std::nullopt;
      break;
    case S_IFIFO:
      if (info.st_ino == out_inode) fd.kind = UserFd::Kind::kCapturedOut;
      if (info.st_ino == err_inode) fd.kind = UserFd::Kind::kCapturedErr;
      break;
    case 0:
      fd.kind = AnonymousKind(number);
      break;
  }
  return fd;
}

std::string DescribeAddress(const sockaddr_storage& address, socklen_t size) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &in.sin_addr, text, sizeof(text));
    return std::string(text) + ":" + std::to_string(ntohs(in.sin_port));
  }
  if (address.ss_family == AF_INET6) {
    const auto& in = reinterpret_cast<const sockaddr_in6&>(address);
    inet_ntop(AF_INET6, &in.sin6_addr, text, sizeof(text));
    return "[" + std::string(text) + "]:" + std::to_string(ntohs(in.sin6_port));
  }
  if (address.ss_family == AF_UNIX && size > sizeof(sa_family_t)) {
    return reinterpret_cast<const sockaddr_un&>(address).sun_path;
  }
  return "";
}

std::string DescribeSocket(int fd) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  std::string peer, local;
  const bool connected = getpeername(fd, generic, &size) == 0;
  if (connected) peer = DescribeAddress(address, size);
  size = sizeof(address);
  if (getsockname(fd, generic, &size) == 0) local = DescribeAddress(address, size);
  if (connected) return peer.empty() ? "a connected socket" : "the connection to " + peer;
  return local.empty() ? "a socket" : "the socket on " + local;
}

bool IsLocked(int fd) {
  std::ifstream info("/proc/self/fdinfo/" + std::to_string(fd));
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("lock:")) return true;
  }
  return false;
}

std::string DescribeFile(const UserFd& fd) {
  std::string name = NameOf(fd.number);
  if (IsLocked(fd.number)) return "the lock on " + name;
  if ((fd.status_flags & O_ACCMODE) == O_RDONLY) return "";
  return "what was written to " + name + ", which is open for writing";
}

std::string DescribeDead(int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0) return "";
  switch (info.st_mode & S_IFMT) {
    case S_IFSOCK:
      return DescribeSocket(fd);
    case S_IFIFO:
      return "a pipe (descriptor " + std::to_string(fd) + ")";
    case S_IFCHR:
    case S_IFBLK:
      return DescribeDevice(NameOf(fd));
  }
  return "";
}

// Of its own offset and locks; -1 when it cannot be opened again.
UniqueFd Reopen(const UserFd& fd) {
  // O_NOFOLLOW, which sqlite uses, would refuse the link in /proc; O_TMPFILE wants a directory.
  constexpr int kOnlyTheFirstTime = O_CREAT | O_EXCL | O_TRUNC | O_NOFOLLOW | O_TMPFILE;
  int flags = (fd.status_flags & ~kOnlyTheFirstTime) | O_CLOEXEC | O_NOCTTY;
  UniqueFd again(open(ProcPath(fd.number).c_str(), flags));
  if (again && fd.offset > 0) lseek(again.get(), fd.offset, SEEK_SET);
  return again;
}

// Reads end at once, writes fail: whoever was on the other side is gone.
UniqueFd MakeDead() {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
    return UniqueFd(open("/dev/null", O_RDWR | O_CLOEXEC));
  }
  close(pair[1]);
  return UniqueFd(pair[0]);
}

}  // namespace

std::vector<UserFd> ListUserFds(const std::set<int>& own, uint64_t out_inode, uint64_t err_inode) {
  std::vector<UserFd> fds;
  DIR* directory = opendir("/proc/self/fd");
  if (directory == nullptr) return fds;
  while (dirent* entry = readdir(directory)) {
    if (entry->d_name[0] == '.') continue;
    int number = std::atoi(entry->d_name);
    if (number == dirfd(directory) || own.contains(number)) continue;
    if (std::optional<UserFd> fd = Examine(number, out_inode, err_inode)) fds.push_back(*fd);
  }
  closedir(directory);
  return fds;
}

std::string DescribeDevice(const std::string& path) {
  const bool gpu =
      path.starts_with("/dev/nvidia") || path.starts_with("/dev/dri/") || path == "/dev/kfd";
  return (gpu ? "the GPU context of " : "the device ") + path;
}

std::vector<std::string> DescribeUserFds(const std::vector<UserFd>& fds) {
  std::set<std::string> phrases;  // a file opened twice is said once
  for (const UserFd& fd : fds) {
    if (fd.kind == UserFd::Kind::kFile) phrases.insert(DescribeFile(fd));
    if (fd.kind == UserFd::Kind::kDead) phrases.insert(DescribeDead(fd.number));
  }
  phrases.erase("");
  return {phrases.begin(), phrases.end()};
}

std::vector<std::string> ReplaceUserFds(std::vector<UserFd>& fds) {
  std::vector<std::string> lost;
  UniqueFd dead = MakeDead();
  for (UserFd& fd : fds) {
    UniqueFd fresh;
    int from = dead.get();
    switch (fd.kind) {
      case UserFd::Kind::kFile:
        fresh = Reopen(fd);
        if (!fresh) {
          lost.push_back("the open file " + NameOf(fd.number));
          fd.kind = UserFd::Kind::kDead;  // also for a copy of this copy
        }
        break;
      case UserFd::Kind::kEpoll:
        fresh.reset(epoll_create1(EPOLL_CLOEXEC));
        break;
      case UserFd::Kind::kEventfd:
        fresh.reset(eventfd(0, EFD_CLOEXEC | (fd.status_flags & O_NONBLOCK)));
        break;
      case UserFd::Kind::kCapturedOut:
        from = STDOUT_FILENO;
        break;
      case UserFd::Kind::kCapturedErr:
        from = STDERR_FILENO;
        break;
      case UserFd::Kind::kDead:
        break;
    }
    if (fresh) from = fresh.get();
    dup3(from, fd.number, fd.close_on_exec ? O_CLOEXEC : 0);
  }
  return lost;
}

}  // namespace cellar::embed
