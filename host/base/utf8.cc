#include "host/base/utf8.h"

#include <cstdint>

namespace cellar {

size_t Utf8CharacterSize(std::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<uint8_t>(text[i]); };
  if (text.empty()) return 0;
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t size = lead >= 0xC2 && lead <= 0xDF   ? 2
                      : (lead & 0xF0) == 0xE0        ? 3
                      : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                     : 0;
  if (size == 0 || text.size() < size) return 0;
  const uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return 0;
  for (size_t i = 2; i < size; ++i) {
    if (!IsUtf8Continuation(text[i])) return 0;
  }
  return size;
}

char32_t CodePointOf(std::string_view character) {
  const auto lead = static_cast<uint8_t>(character[0]);
  if (lead < 0x80) return lead;
  char32_t code = lead & (0x7F >> character.size());
  for (char byte : character.substr(1)) code = code << 6 | (byte & 0x3F);
  return code;
}

std::optional<size_t> FindInvalidUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t size = Utf8CharacterSize(text.substr(at));
    if (size == 0) return at;
    at += size;
  }
  return std::nullopt;
}

std::string ReplaceInvalidUtf8(std::string_view text) {
  std::string valid;
  while (std::optional<size_t> at = FindInvalidUtf8(text)) {
    valid.append(text.substr(0, *at)).append(kReplacementCharacter);
    text.remove_prefix(*at + 1);
  }
  return valid.append(text);
}

}  // namespace cellar
