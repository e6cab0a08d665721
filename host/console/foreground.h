// A command in the foreground of a terminal: its loop, and the signals that a person sends it.
#pragma once

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "host/base/event_loop.h"
#include "host/base/unique_fd.h"

namespace cellar::host {

class Foreground {
 public:
  // Before any thread is made, so that none of them gets the signals in our place.
  static absl::StatusOr<std::unique_ptr<Foreground>> Create();
  ~Foreground();

  EventLoop& loop() { return *loop_; }

  // `on_interrupt` is called for Ctrl-C (SIGINT), `on_resize`, which may be null, when the terminal
  // has another size; SIGTERM and SIGHUP end the loop at once.
  absl::Status WatchSignals(std::function<void()> on_interrupt,
                            std::function<void()> on_resize = nullptr);
  // Readable when a signal has come that the loop has not seen to yet.
  int signals() const { return signals_.get(); }
  // The program's exit code if a signal has ended the loop, or 0.
  int exit_code() const { return exit_code_; }

 private:
  Foreground() = default;

  std::unique_ptr<EventLoop> loop_;
  UniqueFd signals_;
  int exit_code_ = 0;
};

}  // namespace cellar::host
