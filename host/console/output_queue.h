// What is to be written to a descriptor whose reader may be slow: as much of it as there is room
// for at once, the rest when there is room again, so that signals and time-outs need not wait for a
// reader. The descriptor's flags are left alone, for other programs have it too.
//
// Lives on the loop's thread.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "host/console/foreground.h"

namespace cellar::host {

// So long a reader may still take before a program ends that has been interrupted.
inline constexpr absl::Duration kReaderGrace = absl::Seconds(1);

class OutputQueue {
 public:
  struct Events {
    // Once, with the errno: nothing can be written any more.
    std::function<void(int error)> on_lost;
    // Some of what waited has been written, and what is left asks for no pause.
    std::function<void()> on_room;
  };

  // `fd` is borrowed, and nobody else watches it on the loop.
  OutputQueue(Foreground& foreground, int fd, Events events);
  ~OutputQueue();
  OutputQueue(const OutputQueue&) = delete;

  void Write(std::string_view bytes);

  // Nothing waits.
  bool empty() const { return size() == 0; }
  // So much waits that whoever makes it should stop for a while.
  bool WantsPause() const;

 private:
  size_t size() const { return waiting_.size() - taken_; }
  // Returns how much of it there was room for.
  size_t WriteSome(std::string_view bytes);
  void WriteWaiting();
  // Of what comes all the same; or until a signal has come.
  void WaitForRoom();
  void Watch();
  void OnRoom();
  void Lose(int error);

  Foreground& foreground_;
  const int fd_;
  Events events_;
  std::string waiting_;
  size_t taken_ = 0;  // of waiting_
  bool watching_ = false;
  bool lost_ = false;
};

}  // namespace cellar::host
