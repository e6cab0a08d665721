// Asks the terminal whether it shows images, and takes its answer out of what is typed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "host/base/event_loop.h"
#include "host/repl/device_attributes.h"

namespace cellar::host {

class TerminalQuestion {
 public:
  // The loop outlives it.
  explicit TerminalQuestion(EventLoop& loop) : loop_(loop) {}
  ~TerminalQuestion() { loop_.Cancel(limit_); }
  TerminalQuestion(const TerminalQuestion&) = delete;

  // `on_keys` gets keys that looked like the beginning of an answer for too long; `on_sixel` is
  // called if the answer is that it shows sixels.
  void Ask(std::function<void(std::string_view keys)> on_keys, std::function<void()> on_sixel);

  // What of the bytes read from the terminal was typed.
  std::string Take(std::string_view bytes);

 private:
  EventLoop& loop_;
  std::optional<DeviceAttributes> attributes_;  // while they are asked for
  EventLoop::TimerId limit_ = 0;
  std::function<void()> on_sixel_;
};

}  // namespace cellar::host
