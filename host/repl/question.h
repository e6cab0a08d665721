// A question at the prompt that the next key answers: yes for `y`, no for any other.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "host/console/call_printer.h"
#include "host/repl/editor.h"

namespace cellar::host {

class Question {
 public:
  // Both outlive it.
  Question(Editor& editor, CallPrinter& printer) : editor_(editor), printer_(printer) {}

  // Under what is being typed, or, while a cell runs, on a line of its own.
  void Ask(const std::string& text, std::function<void()> on_yes);
  // What it was about is over.
  void Drop() { on_yes_ = nullptr; }

  // Takes the answer off the keys, if one is waited for. True if it was yes: that is done, and the
  // keys behind it are not meant for anything else.
  bool Take(std::string_view& keys);

 private:
  Editor& editor_;
  CallPrinter& printer_;
  std::function<void()> on_yes_;  // while it is asked
};

}  // namespace cellar::host
