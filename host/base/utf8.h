// Text in UTF-8: whether it is, where it may be cut, how many characters it has. Making a stream
// valid is the sanitiser's work.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace cellar {

// Of the character at the start of the text, by the table of well-formed sequences in the Unicode
// standard (3.9, table 3-7); 0 if there is none.
size_t Utf8CharacterSize(std::string_view text);

// Of a text that is one character.
char32_t CodePointOf(std::string_view character);

// Where the first byte stands that is not UTF-8.
std::optional<size_t> FindInvalidUtf8(std::string_view text);

// What some programs write before a text.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// For what is no character.
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

// The text with kReplacementCharacter for each byte that is not UTF-8.
std::string ReplaceInvalidUtf8(std::string_view text);

// What is below is for text that is valid.
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

}  // namespace cellar
