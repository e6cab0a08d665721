// A strict check of text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cellar::host {

// Decodes by value, unlike the sanitiser, which goes by the table of allowed bytes.
inline bool IsValidUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const size_t size = lead < 0x80       ? 1
                        : lead >> 5 == 6  ? 2
                        : lead >> 4 == 14 ? 3
                        : lead >> 3 == 30 ? 4
                                          : 0;
    if (size == 0 || at + size > text.size()) return false;
    uint32_t value = size == 1 ? lead : lead & (0x7F >> size);
    for (size_t i = 1; i < size; ++i) {
      const auto next = static_cast<unsigned char>(text[at + i]);
      if (next >> 6 != 2) return false;
      value = value << 6 | (next & 0x3F);
    }
    constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    if (value < kLeast[size] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
      return false;
    at += size;
  }
  return true;
}

}  // namespace cellar::host
