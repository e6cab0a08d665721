// Bytes of a client to lines. Keeps the line under way, up to a limit; does not know what a line
// means.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"

namespace cellar::host {

class LineSplitter {
 public:
  explicit LineSplitter(size_t max_line_bytes) : max_line_bytes_(max_line_bytes) {}

  // Calls `on_line` for each line that `bytes` completes, without its newline, and `on_too_long`
  // once for a line that passes the limit; the rest of that line is dropped.
  void Write(std::string_view bytes, absl::FunctionRef<void(std::string_view line)> on_line,
             absl::FunctionRef<void()> on_too_long);

  // The line that has no newline yet.
  bool has_partial_line() const { return !partial_.empty() || dropping_; }

 private:
  const size_t max_line_bytes_;
  std::string partial_;
  bool dropping_ = false;
};

}  // namespace cellar::host
