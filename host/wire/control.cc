#include "host/wire/control.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "absl/strings/str_cat.h"

namespace cellar::wire {
namespace {

constexpr size_t kMaxFds = 16;

absl::Status SendParts(int socket, std::span<iovec> parts, const std::vector<int>& fds, int flags) {
  alignas(cmsghdr) char ancillary[CMSG_SPACE(kMaxFds * sizeof(int))] = {};
  msghdr header = {.msg_iov = parts.data(), .msg_iovlen = parts.size()};
  if (!fds.empty()) {
    header.msg_control = ancillary;
    header.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
    std::memcpy(CMSG_DATA(rights), fds.data(), fds.size() * sizeof(int));
  }
  ssize_t sent;
  do {
    sent = sendmsg(socket, &header, MSG_NOSIGNAL | flags);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return ErrnoStatus(errno, "sending a control message");
  return absl::OkStatus();
}

}  // namespace

void TakeFds(msghdr& header, std::vector<UniqueFd>& fds) {
  for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
      fds.emplace_back(fd);
    }
  }
}

absl::Status SendControl(int socket, MessageType type, const std::string& payload,
                         const std::vector<int>& fds) {
  if (payload.size() > kMaxControlMessage) {
    return absl::InvalidArgumentError(absl::StrCat("a control message has ", payload.size() >> 10,
                                                   " KiB; ", kMaxControlMessage >> 10,
                                                   " KiB is the most"));
  }
  iovec parts[2] = {{&type, sizeof(type)}, {const_cast<char*>(payload.data()), payload.size()}};
  return SendParts(socket, parts, fds, 0);
}

absl::Status SendFrame(int channel, const std::string& frame, const std::vector<int>& fds) {
  iovec part = {const_cast<char*>(frame.data()), frame.size()};
  return SendParts(channel, {&part, 1}, fds, MSG_DONTWAIT);
}

absl::StatusOr<std::optional<ControlMessage>> ReceiveControl(int socket) {
  ControlMessage message;
  char payload[kMaxControlMessage];  // not a string of that size: a keeper's memory is counted in
                                     // pages
  iovec parts[2] = {{&message.type, sizeof(message.type)}, {payload, sizeof(payload)}};
  alignas(cmsghdr) char ancillary[CMSG_SPACE(kMaxFds * sizeof(int))];
  msghdr header = {.msg_iov = parts,
                   .msg_iovlen = 2,
                   .msg_control = ancillary,
                   .msg_controllen = sizeof(ancillary)};
  ssize_t received;
  do {
    received = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
    // A peer that ends with messages unread resets the connection, which is told once, ahead of its
    // own last words.
  } while (received < 0 && (errno == EINTR || errno == ECONNRESET));
  if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return std::nullopt;
  if (received < 0) return ErrnoStatus(errno, "receiving a control message");
  TakeFds(header, message.fds);
  if (received == 0) return absl::UnavailableError("the peer has closed the control socket");
  if (static_cast<size_t>(received) < sizeof(message.type) ||
      (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    return absl::DataLossError("a control message is damaged");
  }
  message.payload.assign(payload, static_cast<size_t>(received) - sizeof(message.type));
  return message;
}

}  // namespace cellar::wire
