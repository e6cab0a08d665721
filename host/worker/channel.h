// The host's end of a worker's channel: a stream socket with frames both ways, on which a worker
// also passes descriptors. Knows frames; what they mean is the Worker's.
//
// Lives on the loop's thread. Nothing it reads is trusted, and it never blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "host/base/event_loop.h"
#include "host/base/unique_fd.h"
#include "host/wire/frame.h"
#include "host/wire/frame_sender.h"

namespace cellar::host {

class ChannelListener {
 public:
  virtual ~ChannelListener() = default;
  // An error when it is nothing that a worker sends.
  virtual absl::Status OnFrame(const wire::Frame& frame) = 0;
  // The worker has closed it, once.
  virtual void OnChannelEnd() = 0;
  // It carries something that no worker sends.
  virtual void OnGarbage(const absl::Status& why) = 0;
};

class Channel {
 public:
  Channel(EventLoop& loop, UniqueFd socket, ChannelListener& listener);
  ~Channel();
  Channel(const Channel&) = delete;

  absl::Status Watch();

  // Sent when there is room.
  void Send(std::string frame) { sender_.Send(std::move(frame)); }
  // All of it has been sent.
  bool is_flushed() const { return sender_.is_flushed(); }

  // Hands over the frames that have arrived and not been read. Not from a listener's call.
  void ReadArrived();
  // The same for some of what a worker that has ended left. False when there is nothing more.
  bool ReadLeft();
  // The descriptor that came first of those not taken yet: nothing when there is none, empty when
  // this process had no room for it.
  std::optional<UniqueFd> TakeFd();

  // From now on nothing is read or handed over.
  void Stop();

  // For what is sent with descriptors.
  int socket() const { return socket_.get(); }

 private:
  void OnEvents(uint32_t events);
  // Bytes read; 0 when there are none.
  size_t Read();

  EventLoop& loop_;
  UniqueFd socket_;
  ChannelListener& listener_;
  wire::FrameDecoder decoder_;
  std::deque<UniqueFd> received_fds_;  // whose frames are not complete yet
  wire::FrameSender sender_;
  bool ended_ = false;
};

}  // namespace cellar::host
