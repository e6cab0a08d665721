// Where valid UTF-8 text may be cut, and how many characters it has. Finding out whether text is
// valid is the sanitiser's work.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace cellar::host {

inline bool IsUtf8Continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

// The last border of a character that is not after `position`.
inline size_t Utf8BorderBefore(std::string_view text, size_t position) {
  while (position > 0 && position < text.size() && IsUtf8Continuation(text[position])) --position;
  return position;
}

// The first border of a character that is not before `position`.
inline size_t Utf8BorderAfter(std::string_view text, size_t position) {
  while (position < text.size() && IsUtf8Continuation(text[position])) ++position;
  return position;
}

inline size_t CountCharacters(std::string_view text) {
  return text.size() - std::count_if(text.begin(), text.end(), IsUtf8Continuation);
}

}  // namespace cellar::host
