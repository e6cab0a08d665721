// Control messages: one message per packet of a seqpacket socket, with descriptors passed along.
// Used between host and template and between host and keeper. Also how descriptors travel with a
// frame.
#pragma once

#include <sys/socket.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "host/base/status.h"
#include "host/base/unique_fd.h"
#include "host/wire/message.h"

namespace cellar::wire {

inline constexpr size_t kMaxControlMessage = 64u << 10;

// Exit code of a worker that finds its channel closed or replaced by a cell.
inline constexpr int kExitChannelLost = 120;

struct ControlMessage {
  MessageType type;
  std::string payload;
  std::vector<UniqueFd> fds;  // close-on-exec
};

absl::Status SendControl(int socket, MessageType type, const std::string& payload,
                         const std::vector<int>& fds = {});

template <typename Message>
absl::Status SendControl(int socket, const Message& message, const std::vector<int>& fds = {}) {
  return SendControl(socket, Message::kType, Encode(message), fds);
}

// Nothing when a non-blocking socket has no message; Unavailable when the peer is gone.
absl::StatusOr<std::optional<ControlMessage>> ReceiveControl(int socket);

// One small frame on a worker's channel, with descriptors; never waits for room.
absl::Status SendFrame(int channel, const std::string& frame, const std::vector<int>& fds);

// The descriptors that came with a message.
void TakeFds(msghdr& header, std::vector<UniqueFd>& fds);

}  // namespace cellar::wire
