// Keeps a block of rows on the terminal as it should look, at the place where the cursor was when
// it first appeared. Knows what it wrote, and writes what differs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "host/console/terminal.h"

namespace cellar::host {

struct Picture {
  std::vector<std::string> rows;  // with colours, each complete in itself; at least one
  size_t cursor_row = 0;
  int cursor_column = 0;
};

class BlockScreen {
 public:
  explicit BlockScreen(int fd) : fd_(fd) {}

  // Of a picture with more rows than the screen, those around the cursor are shown.
  void Show(const Picture& picture, ScreenSize size);

  // Takes the block off the screen; the cursor is then where its first row began.
  void Erase();

  // Leaves the block as it is; the cursor is then at the start of the line after it.
  void Leave();

  // The terminal has changed its width, and moved what was on it.
  void OnResize(int columns);

  // The block is gone, and the cursor is at the start of an empty line (after the screen was
  // cleared, say).
  void Forget();

 private:
  std::string ToFirstRow() const;

  int fd_;
  std::vector<std::string> rows_;  // what the terminal shows
  size_t cursor_row_ = 0;
  int cursor_column_ = 0;
};

}  // namespace cellar::host
