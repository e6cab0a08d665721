// The terminal's mode while the prompt has it: keys come one by one and are not echoed, Ctrl-C is
// still a signal, and a paste is marked as one.
#pragma once

#include <termios.h>

namespace cellar::host {

class RawTerminal {
 public:
  // `marks_paste`: the terminal is one that can (see bracketed paste in xterm's control sequences).
  RawTerminal(int fd, bool marks_paste) : fd_(fd), marks_paste_(marks_paste) {}
  ~RawTerminal() { Leave(); }
  RawTerminal(const RawTerminal&) = delete;

  void Enter();
  // As it was before.
  void Leave();

 private:
  int fd_;
  bool marks_paste_;
  bool entered_ = false;
  termios before_ = {};
};

}  // namespace cellar::host
