// The worker's end of the channel: whole frames out, whole frames in. Any thread may send, without
// the GIL.
#pragma once

#include <sys/types.h>

#include <mutex>
#include <string>
#include <vector>

#include "host/base/unique_fd.h"
#include "host/wire/frame.h"

namespace cellar::embed {

class Channel {
 public:
  explicit Channel(UniqueFd fd);

  // Blocks until the host has taken it, signals or not: half a frame would ruin the channel. A
  // worker whose channel is gone or was replaced by a cell has no way to answer and ends here.
  void Send(const std::string& frame) { SendWithFd(frame, -1); }
  // The host gets a copy of `fd` with the frame, unless it is -1.
  void SendWithFd(const std::string& frame, int fd);

  struct Message {
    uint16_t type;
    std::string payload;
    std::vector<UniqueFd> fds;  // of a Copy
  };
  // Whatever has arrived, without waiting. Ends the process when the host is gone.
  std::vector<Message> Receive();
  void WaitUntilReadable();
  bool IsReadable() const;

  // In a copy of this process: speaks to the host over `fd` from now on, under the old number.
  void Adopt(UniqueFd fd);

  int fd() const { return fd_.get(); }

 private:
  bool StillOurs() const;

  UniqueFd fd_;
  ino_t inode_;
  std::mutex sending_;
  wire::FrameDecoder decoder_;
  std::vector<UniqueFd> arrived_fds_;
};

}  // namespace cellar::embed
