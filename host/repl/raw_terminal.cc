#include "host/repl/raw_terminal.h"

#include <unistd.h>

#include <utility>

#include "host/base/fds.h"

namespace cellar::host {

void RawTerminal::Enter() {
  if (entered_ || tcgetattr(fd_, &before_) != 0) return;
  termios raw = before_;
  // IXON off: Ctrl-S searches forward. ICRNL off: Enter and Ctrl-J are two keys. IEXTEN off:
  // Ctrl-V and Ctrl-O reach the editor.
  raw.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL | INLCR | ISTRIP);
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | IEXTEN);
  raw.c_lflag |= ISIG;
  // Ctrl-Z comes as a key: the mode has to be put back before the program stops.
  raw.c_cc[VSUSP] = _POSIX_VDISABLE;
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  entered_ = tcsetattr(fd_, TCSADRAIN, &raw) == 0;
  if (entered_ && marks_paste_) WriteAll(fd_, "\x1b[?2004h");
}

void RawTerminal::Leave() {
  if (!std::exchange(entered_, false)) return;
  if (marks_paste_) WriteAll(fd_, "\x1b[?2004l");
  tcsetattr(fd_, TCSADRAIN, &before_);
}

}  // namespace cellar::host
