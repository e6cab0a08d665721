#include "host/console/text_width.h"

#include <langinfo.h>

#include <array>
#include <clocale>
#include <cstring>
#include <cwchar>

#include "host/base/utf8.h"
#include "host/output/unwanted.h"

namespace cellar::host {
namespace {

// "^@^A…^_", from which a control character's two columns are cut.
constexpr std::array<char, 64> kCarets = [] {
  std::array<char, 64> text{};
  for (size_t i = 0; i < 32; ++i) {
    text[2 * i] = '^';
    text[2 * i + 1] = static_cast<char>('@' + i);
  }
  return text;
}();

}  // namespace

void UseUtf8() {
  setlocale(LC_CTYPE, "");
  if (std::strcmp(nl_langinfo(CODESET), "UTF-8") != 0) setlocale(LC_CTYPE, "C.UTF-8");
}

Glyph FirstGlyph(std::string_view text) {
  const std::string_view character = text.substr(0, Utf8CharacterSize(text));
  if (character.empty()) return {1, 1, kReplacementCharacter};
  const char32_t code = CodePointOf(character);
  if (code < 0x20) return {1, 2, std::string_view(&kCarets[2 * code], 2)};
  if (code == 0x7F) return {1, 2, "^?"};
  const int columns = wcwidth(static_cast<wchar_t>(code));
  if (columns < 0 || IsUnwanted(code)) return {character.size(), 1, kReplacementCharacter};
  return {character.size(), columns, character};
}

int Columns(std::string_view text) {
  int columns = 0;
  while (!text.empty()) {
    const Glyph glyph = FirstGlyph(text);
    columns += glyph.columns;
    text.remove_prefix(glyph.bytes);
  }
  return columns;
}

std::string_view CutToColumns(std::string_view text, int columns) {
  size_t size = 0;
  while (size < text.size()) {
    const Glyph glyph = FirstGlyph(text.substr(size));
    columns -= glyph.columns;
    if (columns < 0) break;
    size += glyph.bytes;
  }
  return text.substr(0, size);
}

std::string CutToWidth(std::string_view text, size_t columns) {
  std::string line;
  size_t width = 0;
  size_t end_with_ellipsis = 0;  // of `line`, where an ellipsis still fits
  while (!text.empty()) {
    const Glyph glyph = text[0] == '\t' ? Glyph{1, 1, " "} : FirstGlyph(text);
    width += static_cast<size_t>(glyph.columns);
    if (width > columns) return columns == 0 ? "" : line.substr(0, end_with_ellipsis) + "…";
    line += glyph.shown;
    if (width < columns) end_with_ellipsis = line.size();
    text.remove_prefix(glyph.bytes);
  }
  return line;
}

}  // namespace cellar::host
