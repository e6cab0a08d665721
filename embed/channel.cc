#include "embed/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "host/wire/birth_fds.h"
#include "host/wire/control.h"
#include "host/wire/message.h"

namespace cellar::embed {
namespace {

constexpr size_t kReadSize = 64u << 10;

ssize_t SendBytesAndFd(int socket, std::string_view bytes, int fd) {
  iovec part = {const_cast<char*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char ancillary[CMSG_SPACE(sizeof(int))] = {};
  msghdr header = {.msg_iov = &part,
                   .msg_iovlen = 1,
                   .msg_control = ancillary,
                   .msg_controllen = sizeof(ancillary)};
  cmsghdr* rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(rights), &fd, sizeof(int));
  return sendmsg(socket, &header, MSG_NOSIGNAL);
}

}  // namespace

Channel::Channel(UniqueFd fd) : fd_(std::move(fd)) {
  struct stat info = {};
  fstat(fd_.get(), &info);
  inode_ = info.st_ino;
}

void Channel::SendWithFd(const std::string& frame, int fd) {
  std::lock_guard lock(sending_);
  if (!StillOurs()) _exit(wire::kExitChannelLost);
  std::string_view rest = frame;
  while (!rest.empty()) {
    // The descriptor travels with the first bytes that are taken.
    ssize_t sent = rest.size() == frame.size() && fd >= 0
                       ? SendBytesAndFd(fd_.get(), rest, fd)
                       : send(fd_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      rest.remove_prefix(static_cast<size_t>(sent));
    } else if (errno == EAGAIN) {
      pollfd ready = {fd_.get(), POLLOUT, 0};
      poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      _exit(wire::kExitChannelLost);
    }
  }
}

std::vector<Channel::Message> Channel::Receive() {
  char buffer[kReadSize];
  alignas(cmsghdr) char ancillary[CMSG_SPACE(wire::kBirthFdCount * sizeof(int))];
  iovec part = {buffer, sizeof(buffer)};
  msghdr header = {.msg_iov = &part,
                   .msg_iovlen = 1,
                   .msg_control = ancillary,
                   .msg_controllen = sizeof(ancillary)};
  ssize_t size = recvmsg(fd_.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) _exit(0);
  if (size > 0) {
    wire::TakeFds(header, arrived_fds_);
    decoder_.Feed(std::string_view(buffer, static_cast<size_t>(size)));
  }
  std::vector<Message> messages;
  while (true) {
    auto frame = decoder_.Next();
    if (!frame.ok()) _exit(wire::kExitChannelLost);
    if (!*frame) return messages;
    messages.push_back({(*frame)->type, std::string((*frame)->payload), {}});
    // A read ends behind the packet that carries descriptors, so they belong to its last frame.
    if (messages.back().type == static_cast<uint16_t>(wire::MessageType::kCopy)) {
      messages.back().fds = std::exchange(arrived_fds_, {});
    }
  }
}

void Channel::WaitUntilReadable() {
  pollfd ready = {fd_.get(), POLLIN, 0};
  poll(&ready, 1, -1);
}

bool Channel::IsReadable() const {
  pollfd ready = {fd_.get(), POLLIN, 0};
  return poll(&ready, 1, 0) > 0;
}

void Channel::Adopt(UniqueFd fd) {
  const int number = fd_.release();
  dup3(fd.get(), number, O_CLOEXEC);
  // A thread of the original may have been sending: its lock and its half frame are not ours.
  std::destroy_at(this);
  std::construct_at(this, UniqueFd(number));
}

bool Channel::StillOurs() const {
  struct stat info;
  return fstat(fd_.get(), &info) == 0 && info.st_ino == inode_;
}

}  // namespace cellar::embed
