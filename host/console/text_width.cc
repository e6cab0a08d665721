#include "host/console/text_width.h"

#include <langinfo.h>

#include <array>
#include <clocale>
#include <cstdint>
#include <cstring>
#include <cwchar>

namespace cellar::host {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// "^@^A…^_", from which a control character's two columns are cut.
constexpr std::array<char, 64> kCarets = [] {
  std::array<char, 64> text{};
  for (size_t i = 0; i < 32; ++i) {
    text[2 * i] = '^';
    text[2 * i + 1] = static_cast<char>('@' + i);
  }
  return text;
}();

struct Decoded {
  char32_t code = 0;
  size_t bytes = 0;  // 0: not a character
};

Decoded Decode(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  const size_t bytes = lead < 0x80   ? 1
                       : lead < 0xC2 ? 0
                       : lead < 0xE0 ? 2
                       : lead < 0xF0 ? 3
                       : lead < 0xF5 ? 4
                                     : 0;
  if (bytes == 0 || text.size() < bytes) return {};
  if (bytes == 1) return {lead, 1};
  char32_t code = lead & (0x7F >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if ((byte & 0xC0) != 0x80) return {};
    code = code << 6 | (byte & 0x3F);
  }
  return {code, bytes};
}

}  // namespace

void UseUtf8() {
  setlocale(LC_CTYPE, "");
  if (std::strcmp(nl_langinfo(CODESET), "UTF-8") != 0) setlocale(LC_CTYPE, "C.UTF-8");
}

Glyph FirstGlyph(std::string_view text) {
  const Decoded decoded = Decode(text);
  if (decoded.bytes == 0) return {1, 1, kReplacement};
  if (decoded.code < 0x20) return {1, 2, std::string_view(&kCarets[2 * decoded.code], 2)};
  if (decoded.code == 0x7F) return {1, 2, "^?"};
  const int columns = wcwidth(static_cast<wchar_t>(decoded.code));
  if (columns < 0) return {decoded.bytes, 1, kReplacement};
  return {decoded.bytes, columns, text.substr(0, decoded.bytes)};
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

}  // namespace cellar::host
