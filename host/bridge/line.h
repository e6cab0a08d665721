// The host's end of a line: the socket on which one thread, or one event loop, of a worker makes
// its calls. Knows frames; what calls mean is the Bridge's.
//
// Lives on the loop's thread. Nothing it reads is trusted, and it never blocks.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "host/base/event_loop.h"
#include "host/base/unique_fd.h"
#include "host/wire/bridge_messages.h"
#include "host/wire/frame.h"
#include "host/wire/frame_sender.h"
#include "host/wire/frame_trace.h"

namespace cellar::host {

class Line;

class LineListener {
 public:
  virtual ~LineListener() = default;
  virtual void OnCall(Line& line, wire::BridgeCall call) = 0;
  virtual void OnWithdraw(Line& line, uint64_t call) = 0;
  // The thread has ended, or sent what no worker sends. The line must not be destroyed in this
  // call.
  virtual void OnLineEnd(Line& line) = 0;
};

class Line {
 public:
  static absl::StatusOr<std::unique_ptr<Line>> Create(EventLoop& loop, UniqueFd socket,
                                                      bool of_main_thread, LineListener& listener);
  ~Line();
  Line(const Line&) = delete;

  template <typename Message>
  void Send(const Message& message) {
    std::string payload = wire::Encode(message);
    Trace(wire::FrameDirection::kToWorker, Message::kType, payload);
    if (ended_) return;
    sender_.Send(wire::EncodeFrame(static_cast<uint16_t>(Message::kType), payload));
  }
  // Unless the worker has it already.
  void SendOffer(const wire::BridgeOffer& offer);
  // It has come over the channel, before any code ran.
  void NoteOffer(const wire::BridgeOffer& offer);

  bool of_main_thread() const { return of_main_thread_; }

 private:
  Line(EventLoop& loop, UniqueFd socket, bool of_main_thread, LineListener& listener);

  void OnEvents(uint32_t events);
  void Read();
  // Which worker has the other end is not known here.
  static void Trace(wire::FrameDirection direction, wire::MessageType type,
                    std::string_view payload) {
    wire::TraceFrame(direction, /*worker_pid=*/-1, type, payload);
  }
  void End();

  EventLoop& loop_;
  UniqueFd socket_;
  bool of_main_thread_;
  LineListener& listener_;
  wire::FrameDecoder decoder_;
  wire::FrameSender sender_;
  bool ended_ = false;
  std::array<uint64_t, wire::kOfferKinds> offered_ = {};  // sequence of the last one
};

}  // namespace cellar::host
