// The answer to NAME??, held back until it is whole: the source in it is coloured.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "host/console/call_printer.h"

namespace cellar::host {

class SourceAnswer {
 public:
  // The printer outlives it.
  explicit SourceAnswer(CallPrinter& printer) : printer_(printer) {}

  // A cell begins, which may ask for a source.
  void Begin(std::string_view cell);
  // True if the text is part of an answer, and shown with it.
  bool Take(std::string_view text);
  // The cell has ended.
  void Show();

 private:
  CallPrinter& printer_;
  std::optional<std::string> text_;  // so far
};

}  // namespace cellar::host
