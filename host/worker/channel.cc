#include "host/worker/channel.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "host/base/fds.h"

namespace cellar::host {
namespace {

constexpr uint32_t kEvents = EPOLLIN | EPOLLRDHUP;
constexpr size_t kReadSize = 256u << 10;
// More than this without the frames that they belong to is not what a worker sends.
constexpr size_t kMaxReceivedFds = 16;

struct Received {
  ssize_t size;
  // Never more than one: what else a worker passes is closed by the kernel. Empty when this process
  // has no room for it.
  std::optional<UniqueFd> fd;
};

Received ReceiveBytesAndFd(int socket, std::array<char, kReadSize>& buffer) {
  iovec part = {buffer.data(), buffer.size()};
  alignas(cmsghdr) char ancillary[CMSG_SPACE(sizeof(int))];
  // Less than the buffer: its padding would take another one, which nobody would close.
  msghdr header = {.msg_iov = &part,
                   .msg_iovlen = 1,
                   .msg_control = ancillary,
                   .msg_controllen = CMSG_LEN(sizeof(int))};
  Received received = {.size = recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC)};
  if (received.size < 0) return received;
  cmsghdr* rights = CMSG_FIRSTHDR(&header);
  if (rights != nullptr && rights->cmsg_type == SCM_RIGHTS &&
      rights->cmsg_len >= CMSG_LEN(sizeof(int))) {
    int fd;
    std::memcpy(&fd, CMSG_DATA(rights), sizeof(fd));
    received.fd.emplace(fd);
  } else if ((header.msg_flags & MSG_CTRUNC) != 0) {
    received.fd.emplace();
  }
  return received;
}

}  // namespace

Channel::Channel(EventLoop& loop, UniqueFd socket, ChannelListener& listener)
    : loop_(loop),
      socket_(std::move(socket)),
      listener_(listener),
      sender_(loop, socket_.get(), kEvents) {}

Channel::~Channel() { loop_.Unwatch(socket_.get()); }

absl::Status Channel::Watch() {
  return loop_.Watch(socket_.get(), kEvents, [this](uint32_t events) { OnEvents(events); });
}

void Channel::OnEvents(uint32_t events) {
  if ((events & EPOLLOUT) != 0) sender_.Flush();
  if ((events & ~uint32_t{EPOLLOUT}) != 0) Read();
}

size_t Channel::Read() {
  static thread_local std::array<char, kReadSize> buffer;
  auto [size, fd] = ReceiveBytesAndFd(socket_.get(), buffer);
  if (size < 0) return 0;
  if (fd) received_fds_.push_back(*std::move(fd));
  if (received_fds_.size() > kMaxReceivedFds) {
    listener_.OnGarbage(
        absl::DataLossError("the channel carries descriptors that no worker sends"));
    return 0;
  }
  if (size == 0) {
    if (ended_) return 0;
    Stop();
    listener_.OnChannelEnd();
    return 0;
  }
  decoder_.Feed(std::string_view(buffer.data(), static_cast<size_t>(size)));
  while (!ended_) {
    auto frame = decoder_.Next();
    absl::Status status = frame.status();
    if (frame.ok() && !*frame) break;
    if (status.ok()) status = listener_.OnFrame(**frame);
    if (!status.ok()) {
      listener_.OnGarbage(status);
      break;
    }
  }
  return static_cast<size_t>(size);
}

void Channel::ReadArrived() {
  // No more than there is now: a worker that never stops sending must not hold up the loop.
  size_t unread = ended_ ? 0 : UnreadBytes(socket_.get());
  while (unread > 0 && !ended_) {
    const size_t size = Read();
    if (size == 0) return;
    unread -= std::min(unread, size);
  }
}

bool Channel::ReadLeft() {
  char probe;
  if (recv(socket_.get(), &probe, 1, MSG_DONTWAIT | MSG_PEEK) <= 0) return false;
  Read();
  return true;
}

std::optional<UniqueFd> Channel::TakeFd() {
  if (received_fds_.empty()) return std::nullopt;
  UniqueFd fd = std::move(received_fds_.front());
  received_fds_.pop_front();
  return fd;
}

void Channel::Stop() {
  ended_ = true;
  loop_.Unwatch(socket_.get());
}

}  // namespace cellar::host
