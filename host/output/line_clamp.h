// Cuts single lines that are too long on their way into an OutputWindow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "host/output/output_window.h"
#include "host/output/stream.h"

namespace cellar::host {

// Lets through the first `max_characters` of each line (0: all) and tells the window how many bytes
// it kept back. Copyable, like the window. Not thread-safe.
class LineClamp {
 public:
  explicit LineClamp(size_t max_characters) : max_characters_(max_characters) {}

  // `text` is valid UTF-8 and need not be whole lines.
  void Append(Stream stream, std::string_view text, OutputWindow* window);

  // The line under way goes no further; the next text starts a new count.
  void EndLine(Stream stream, OutputWindow* window);

  bool has_cut() const { return has_cut_; }

 private:
  size_t LengthThatFits(std::string_view line) const;

  size_t max_characters_;
  size_t column_ = 0;       // characters of the line under way that were let through
  uint64_t cut_bytes_ = 0;  // bytes of it that were kept back
  bool has_cut_ = false;
};

}  // namespace cellar::host
