// A stretch of bytes of a notebook file. Offsets have 32 bits, so that the table of a notebook with
// a million cells stays small beside its text; the limit on file size keeps them sufficient.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cellar::notebook {

inline constexpr size_t kMaxNotebookBytes = size_t{1} << 30;

struct Span {
  uint32_t begin = 0;
  uint32_t end = 0;

  bool empty() const { return begin == end; }
  uint32_t size() const { return end - begin; }
};

inline std::string_view Slice(std::string_view text, Span span) {
  return text.substr(span.begin, span.size());
}

}  // namespace cellar::notebook
