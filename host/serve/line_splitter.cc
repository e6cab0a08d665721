#include "host/serve/line_splitter.h"

#include <utility>

namespace cellar::host {

void LineSplitter::Write(std::string_view bytes,
                         absl::FunctionRef<void(std::string_view line)> on_line,
                         absl::FunctionRef<void()> on_too_long) {
  while (!bytes.empty()) {
    const size_t newline = bytes.find('\n');
    const bool ends = newline != bytes.npos;
    const std::string_view part = bytes.substr(0, newline);
    bytes.remove_prefix(ends ? newline + 1 : bytes.size());
    if (!dropping_ && partial_.size() + part.size() > max_line_bytes_) {
      dropping_ = true;
      partial_ = std::string();
      on_too_long();
    }
    if (!ends) {
      if (!dropping_) partial_ += part;
    } else if (std::exchange(dropping_, false)) {
      continue;
    } else if (partial_.empty()) {
      on_line(part);
    } else {
      partial_ += part;
      on_line(std::exchange(partial_, std::string()));
    }
  }
}

}  // namespace cellar::host
