// The two directions of one client: lines in, lines out, on pipes, sockets, terminals or files.
// Never blocks, whatever the client does; knows nothing of what the lines say.
//
// Lives on the loop's thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "host/base/event_loop.h"
#include "host/base/lifeline.h"
#include "host/base/unique_fd.h"
#include "host/serve/line_splitter.h"
#include "host/serve/outbox.h"

namespace cellar::host {

class LineStream {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // None of these may destroy the stream.
    virtual void OnLine(std::string_view line) = 0;
    virtual void OnLineTooLong() = 0;
    // The client sends no more, but may still read. `in_a_line`: it stopped in the middle of one.
    virtual void OnEnd(bool in_a_line) = 0;
    // All that was sent has been written.
    virtual void OnDrained() = 0;
    // The client reads no more, or cannot be served any more. The last call.
    virtual void OnGone(const absl::Status& status) = 0;
  };

  // Takes the descriptors as they are: those of a shell are shared with other programs, so their
  // flags are left alone. `in` and `out` are two descriptors also for a socket.
  LineStream(EventLoop& loop, UniqueFd in, UniqueFd out, size_t max_line_bytes, Listener& listener);
  ~LineStream();
  LineStream(const LineStream&) = delete;

  void Start();
  // Takes the newline too. What is sent in one turn of the loop is written at its end, in one
  // piece: the client wakes up once.
  void Send(std::string_view line);
  bool drained() const { return outbox_.empty(); }
  // While paused nothing is read. What has been read is handed over all the same.
  void PauseReading(bool paused);
  // Reads no more.
  void StopReading();

 private:
  void Read();
  void ReadSoon();
  void Write();
  ssize_t WriteSome(std::string_view bytes);
  void OnOut(uint32_t happened);
  void Gone(absl::Status status);

  EventLoop& loop_;
  UniqueFd in_;
  UniqueFd out_;
  Listener& listener_;
  LineSplitter splitter_;
  Outbox outbox_;
  bool out_is_socket_ = false;
  bool in_is_watched_ = false;  // a file is not: it is always ready
  bool out_is_watched_ = false;
  bool reading_ = true;
  bool write_is_posted_ = false;
  bool blocked_ = false;  // waits until `out_` takes more
  bool gone_ = false;
  Lifeline lifeline_;
};

}  // namespace cellar::host
