// What a front end may know of the terminal it writes to, and the filter that keeps a cell's output
// from driving it.
#pragma once

#include <string>
#include <string_view>

#include "host/output/sanitiser.h"

namespace cellar::host {

bool IsTerminal(int fd);
// A terminal, and the user has not asked for no colour (NO_COLOR, TERM=dumb).
bool WantsColour(int fd);

// A terminal on which the cursor can be moved and lines be written anew.
bool MovesCursor(int fd);

struct ScreenSize {
  int rows = 24;
  int columns = 80;
};
// As the terminal says, or the usual one.
ScreenSize SizeOfScreen(int fd);

// Makes a stream of bytes harmless for a terminal while it flows: as the Sanitiser, but lines
// appear as they are written, and carriage returns and backspaces are left for the terminal to
// carry out.
class TerminalFilter {
 public:
  std::string Filter(std::string_view bytes);

 private:
  Sanitiser sanitiser_;
};

}  // namespace cellar::host
