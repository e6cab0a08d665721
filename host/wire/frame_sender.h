// Frames on their way into a stream socket that the event loop watches: what has no room now is
// sent when there is.
//
// Lives on the loop's thread, and never blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "host/base/event_loop.h"

namespace cellar::wire {

class FrameSender {
 public:
  // `events` are those that the owner of the socket watches it for.
  FrameSender(EventLoop& loop, int socket, uint32_t events)
      : loop_(loop), socket_(socket), events_(events) {}
  FrameSender(const FrameSender&) = delete;

  void Send(std::string frame);
  // To be called at EPOLLOUT, which the socket is watched for while anything waits.
  void Flush();
  bool is_flushed() const { return frames_.empty(); }

 private:
  EventLoop& loop_;
  const int socket_;
  const uint32_t events_;
  std::deque<std::string> frames_;
  size_t sent_ = 0;  // of the first: to cut it off each time would move the rest of a large one
  bool blocked_ = false;
};

}  // namespace cellar::wire
