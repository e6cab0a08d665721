#include "host/console/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace cellar::host {

bool IsTerminal(int fd) { return isatty(fd) == 1; }

bool WantsColour(int fd) {
  const char* no_colour = std::getenv("NO_COLOR");
  return MovesCursor(fd) && (no_colour == nullptr || *no_colour == '\0');
}

bool MovesCursor(int fd) {
  const char* term = std::getenv("TERM");
  return IsTerminal(fd) && term != nullptr && *term != '\0' && std::strcmp(term, "dumb") != 0;
}

ScreenSize SizeOfScreen(int fd) {
  winsize size = {};
  ScreenSize screen;
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
    screen = {size.ws_row, size.ws_col};
  }
  return screen;
}

std::string TerminalFilter::Filter(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    size_t control = std::min(bytes.find_first_of("\r\b"), bytes.size());
    sanitiser_.Write(bytes.substr(0, control), &text);
    sanitiser_.Flush(&text);
    if (control < bytes.size()) text += bytes[control++];
    bytes.remove_prefix(control);
  }
  return text;
}

}  // namespace cellar::host
