// The place on a terminal where a cell's text goes: the first lines as they come, then, for a cell
// that prints many, a pane with the last ones, drawn anew as they change. Under it, while a call
// takes long, lines that say how it is. What is written elsewhere on the terminal must be
// written between Hide and the next thing here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "host/console/block_screen.h"

namespace cellar::host {

struct PaneOptions {
  size_t lines = 10;             // before the rest is collapsed, and at the end
  std::string hint;              // how to see all: ":expand shows all"
  size_t max_characters = 4000;  // of a line; the rest is cut
  bool colour = true;
};

class OutputPane {
 public:
  OutputPane(int fd, PaneOptions options) : fd_(fd), options_(std::move(options)), screen_(fd) {}

  // A cell begins. Unless it `redraws`, the last lines of one that prints many are not shown before
  // Hide.
  void Begin(bool redraws = true);
  // Harmless text (see TerminalFilter). False when the terminal is gone.
  bool Write(std::string_view text);
  // Draws what has changed; `status` are the lines under the text.
  void Draw(const std::vector<std::string>& status);
  // The terminal has another width.
  void OnResize();
  // What is to stay is on the terminal, and the cursor behind it.
  bool Hide();

  // The line that was begun and not ended.
  const std::string& line() const { return line_; }
  // Takes it off the terminal.
  std::string TakeLine();
  // Something else is written behind it, on a line of its own.
  void DropLine();

 private:
  bool is_collapsed() const { return lines_ >= options_.lines; }
  bool WriteHead(std::string_view text);
  void AddToTail(std::string_view text);
  void TakeCharacters(std::string_view text, std::string* shown);
  void EndLine();
  std::string Note() const;

  int fd_;
  PaneOptions options_;
  BlockScreen screen_;
  bool redraws_ = true;
  size_t lines_ = 0;  // that have ended, of the cell
  std::string line_;  // the one under way, as it is shown
  size_t line_characters_ = 0;
  bool returned_ = false;         // what follows replaces the line
  std::deque<std::string> tail_;  // of a collapsed cell, not on the terminal yet
  uint64_t left_out_ = 0;         // lines between what is on the terminal and the tail
  absl::Time drawn_ = absl::InfinitePast();
};

}  // namespace cellar::host
