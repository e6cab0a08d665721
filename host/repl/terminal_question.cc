#include "host/repl/terminal_question.h"

#include <unistd.h>

#include <utility>

#include "absl/time/time.h"
#include "host/base/fds.h"

namespace cellar::host {
namespace {

// Keys that look like the beginning of the terminal's answer wait no longer.
constexpr absl::Duration kAnswerLimit = absl::Seconds(1);

}  // namespace

void TerminalQuestion::Ask(std::function<void(std::string_view keys)> on_keys,
                           std::function<void()> on_sixel) {
  attributes_.emplace();
  on_sixel_ = std::move(on_sixel);
  WriteAll(STDOUT_FILENO, DeviceAttributes::kQuestion);
  limit_ = loop_.After(
      kAnswerLimit, [this, on_keys = std::move(on_keys)] { on_keys(attributes_->StopWaiting()); });
}

std::string TerminalQuestion::Take(std::string_view bytes) {
  if (!attributes_) return std::string(bytes);
  std::string typed = attributes_->Take(bytes);
  if (attributes_->is_known()) {
    if (attributes_->shows_sixel()) on_sixel_();
    attributes_.reset();
    loop_.Cancel(std::exchange(limit_, 0));
  }
  return typed;
}

}  // namespace cellar::host
