// A line: a socket to the host on which bridge calls are made and answered. Each thread that calls
// has one of its own, and so has each event loop, so that no call waits for another and none needs
// the channel, whose reader may be busy.
//
// Knows no Python. Used by one thread at a time; only Receive() blocks.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "embed/channel.h"
#include "host/base/status.h"
#include "host/base/unique_fd.h"
#include "host/wire/bridge_messages.h"
#include "host/wire/frame.h"

namespace cellar::embed {

class Line {
 public:
  // Makes the socket and hands its other end to the host.
  static absl::StatusOr<std::unique_ptr<Line>> Open(Channel& channel, bool of_main_thread);
  // The host sees the end of the line, even when a process forked by a cell has a copy of it.
  ~Line();
  Line(const Line&) = delete;

  // Sends the call. Returns when the host has taken it all, signals or not: half a frame would ruin
  // the line.
  absl::Status Start(const wire::BridgeCall& call);
  // Nobody waits for this call any more. Nothing happens for one that was answered.
  void Withdraw(uint64_t call);

  enum class Wait { kNo, kUntilReadable };
  enum class Received { kSomething, kNothing, kSignal };
  // Reads what has come. Unavailable when the line has ended.
  absl::StatusOr<Received> Receive(Wait wait);

  // What Receive() has found for calls that are waited for. What comes for others is dropped.
  std::optional<wire::BridgeAnswer> TakeAnswer(uint64_t call);
  std::vector<wire::BridgeAnswer> TakeAnswers();
  std::optional<wire::BridgeNested> TakeNested(uint64_t call);
  std::vector<wire::BridgeOffer> TakeOffers();

  // Closes the socket of a process that this one was forked from; that one's line goes on.
  void Abandon();

  int fd() const { return fd_.get(); }
  // Whether calls can be made: not abandoned, not ended by the host, and not closed or replaced by
  // a cell.
  bool IsOpen() const { return !lost_ && IsOurs(); }

 private:
  Line(UniqueFd fd, ino_t inode) : fd_(std::move(fd)), inode_(inode) {}

  bool IsOurs() const;
  absl::Status SendFrame(const std::string& frame);
  absl::Status TakeFrames();
  absl::Status Lose();

  UniqueFd fd_;
  ino_t inode_;
  bool lost_ = false;
  std::array<char, 16u << 10> buffer_;  // not on the stack: threads may have a small one
  wire::FrameDecoder decoder_;
  std::set<uint64_t> waiting_;
  std::map<uint64_t, wire::BridgeAnswer> answers_;
  std::deque<wire::BridgeNested> nested_;
  std::vector<wire::BridgeOffer> offers_;
};

}  // namespace cellar::embed
