#include "host/wire/frame_sender.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace cellar::wire {

void FrameSender::Send(std::string frame) {
  frames_.push_back(std::move(frame));
  if (!blocked_) Flush();
}

void FrameSender::Flush() {
  while (!frames_.empty()) {
    const std::string& frame = frames_.front();
    const ssize_t sent =
        send(socket_, frame.data() + sent_, frame.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) break;  // no room, or the peer is gone, which reading will tell
    sent_ += static_cast<size_t>(sent);
    if (sent_ < frame.size()) continue;
    frames_.pop_front();
    sent_ = 0;
  }
  const bool blocked = !frames_.empty();
  if (std::exchange(blocked_, blocked) == blocked) return;
  loop_.Rewatch(socket_, events_ | (blocked ? EPOLLOUT : 0u));
}

}  // namespace cellar::wire
