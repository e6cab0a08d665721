// Keeps characters whole whose bytes come in two chunks. What is not UTF-8 passes as it is: the
// JsonWriter replaces it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "host/output/stream.h"

namespace cellar::host {

class TextDecoder {
 public:
  // What can be sent now.
  std::string Decode(std::string_view bytes);
  // The bytes of a character whose rest has not come.
  std::string Finish() { return {partial_.data(), std::exchange(partial_size_, 0)}; }

 private:
  // No string: every call that waits has four of these.
  std::array<char, 3> partial_ = {};
  uint8_t partial_size_ = 0;
};

// One for each stream.
class StreamDecoders {
 public:
  TextDecoder& Of(Stream stream) { return stream == Stream::kStdout ? out_ : err_; }

 private:
  TextDecoder out_;
  TextDecoder err_;
};

}  // namespace cellar::host
