// Text that comes in pieces while somebody types, given on in whole lines: the rest of one would
// stand behind the prompt.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "host/output/stream.h"

namespace cellar::host {

class WholeLines {
 public:
  // A line that does not end is broken when it has more.
  static constexpr size_t kMaxLineBytes = size_t{64} << 10;

  // `show` gets text that ends with a newline.
  using Show = std::function<void(Stream stream, std::string_view text)>;
  explicit WholeLines(Show show) : show_(std::move(show)) {}

  // Ends the line that the other stream has begun.
  void Add(Stream stream, std::string_view text);
  // Ends the line that was begun, if one was.
  void End();

 private:
  Show show_;
  std::string line_;  // that has begun
  Stream stream_ = Stream::kStdout;
};

}  // namespace cellar::host
