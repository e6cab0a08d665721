#include "host/repl/question.h"

#include <unistd.h>

#include <utility>

#include "host/base/fds.h"

namespace cellar::host {
namespace {

constexpr char kEscape = 0x1B;

}  // namespace

void Question::Ask(const std::string& text, std::function<void()> on_yes) {
  on_yes_ = std::move(on_yes);
  if (editor_.is_open()) return editor_.ShowBelow({text});
  printer_.EndLine();
  printer_.PauseStatus(true);
  WriteAll(STDOUT_FILENO, text);
}

bool Question::Take(std::string_view& keys) {
  if (!on_yes_) return false;
  const std::function<void()> on_yes = std::exchange(on_yes_, nullptr);
  const bool yes = keys[0] == 'y' || keys[0] == 'Y';
  printer_.PauseStatus(false);
  // An arrow, or a paste, is a no and then itself; the bytes of its sequence belong together.
  if (keys[0] != kEscape || keys.size() == 1) keys.remove_prefix(1);
  editor_.is_open() ? editor_.ShowBelow({}) : (void)WriteAll(STDOUT_FILENO, "\n");
  if (yes) on_yes();
  return yes;
}

}  // namespace cellar::host
