#include "notebook/json_string.h"

#include <cstdint>

namespace cellar::notebook {
namespace {

constexpr uint32_t kFirstHighSurrogate = 0xd800;
constexpr uint32_t kFirstLowSurrogate = 0xdc00;
constexpr uint32_t kLastSurrogate = 0xdfff;
constexpr uint32_t kFirstSupplementary = 0x10000;
constexpr std::string_view kReplacement = "\\ufffd";

bool IsSurrogate(uint32_t code) { return code >= kFirstHighSurrogate && code <= kLastSurrogate; }
bool IsHighSurrogate(uint32_t code) {
  return code >= kFirstHighSurrogate && code < kFirstLowSurrogate;
}
bool IsLowSurrogate(uint32_t code) { return code >= kFirstLowSurrogate && code <= kLastSurrogate; }

uint32_t HexValue(std::string_view digits) {
  uint32_t value = 0;
  for (char c : digits) value = value * 16 + (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
  return value;
}

void AppendUtf8(uint32_t code, std::string* out) {
  if (code < 0x80) {
    *out += static_cast<char>(code);
  } else if (code < 0x800) {
    *out += static_cast<char>(0xc0 | (code >> 6));
    *out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < kFirstSupplementary) {
    *out += static_cast<char>(0xe0 | (code >> 12));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    *out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    *out += static_cast<char>(0xf0 | (code >> 18));
    *out += static_cast<char>(0x80 | ((code >> 12) & 0x3f));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    *out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

// Reads the \uXXXX (or the surrogate pair of them) at `pos` and moves `pos` behind it.
uint32_t ReadUnicodeEscape(std::string_view body, size_t* pos) {
  uint32_t code = HexValue(body.substr(*pos + 2, 4));
  *pos += 6;
  if (IsHighSurrogate(code) && body.substr(*pos, 2) == "\\u") {
    const uint32_t low = HexValue(body.substr(*pos + 2, 4));
    if (IsLowSurrogate(low)) {
      *pos += 6;
      code =
          kFirstSupplementary + ((code - kFirstHighSurrogate) << 10) + (low - kFirstLowSurrogate);
    }
  }
  return code;
}

char UnescapedLetter(char letter) {
  switch (letter) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return letter;
  }
}

// Reads one character at `pos` and moves `pos` behind it; false if the bytes are not UTF-8. Unlike
// in host/base/utf8.h a surrogate is a character: JSON may have one alone, and it is kept.
bool ReadUtf8(std::string_view text, size_t* pos, uint32_t* code) {
  const auto lead = static_cast<unsigned char>(text[*pos]);
  if (lead < 0x80) {
    *code = lead;
    *pos += 1;
    return true;
  }
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() - *pos < length) return false;
  *code = lead & (0x7f >> length);
  for (size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[*pos + i]);
    if ((next & 0xc0) != 0x80) return false;
    *code = (*code << 6) | (next & 0x3f);
  }
  const uint32_t least = length == 4 ? kFirstSupplementary : length == 3 ? 0x800 : 0x80;
  if (*code < least || *code > 0x10ffff) return false;
  *pos += length;
  return true;
}

void AppendHexEscape(uint32_t unit, bool upper, std::string* out) {
  const char* digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
  *out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) *out += digits[(unit >> shift) & 0xf];
}

void AppendUnicodeEscape(uint32_t code, bool upper, std::string* out) {
  if (code >= kFirstSupplementary) {
    const uint32_t rest = code - kFirstSupplementary;
    AppendHexEscape(kFirstHighSurrogate + (rest >> 10), upper, out);
    AppendHexEscape(kFirstLowSurrogate + (rest & 0x3ff), upper, out);
  } else {
    AppendHexEscape(code, upper, out);
  }
}

// The letter of the two-character escape for `code`, or 0.
char EscapeLetter(uint32_t code) {
  switch (code) {
    case '"':
    case '\\':
      return static_cast<char>(code);
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    default:
      return '\0';
  }
}

bool NeedsHexEscape(uint32_t code, Escapes escapes) {
  return code < 0x20 || IsSurrogate(code) || (escapes.ascii && code >= 0x80) ||
         (escapes.html && (code == '<' || code == '>' || code == '&'));
}

}  // namespace

void AppendDecoded(std::string_view json, std::string* out) {
  const std::string_view body = json.substr(1, json.size() - 2);
  size_t pos = 0;
  while (pos < body.size()) {
    const size_t escape = body.find('\\', pos);
    out->append(body.substr(pos, escape - pos));
    if (escape == std::string_view::npos) return;
    pos = escape;
    if (body[pos + 1] == 'u') {
      AppendUtf8(ReadUnicodeEscape(body, &pos), out);
    } else {
      *out += UnescapedLetter(body[pos + 1]);
      pos += 2;
    }
  }
}

std::string Decoded(std::string_view json) {
  std::string text;
  AppendDecoded(json, &text);
  return text;
}

bool StandsFor(std::string_view json, std::string_view text) {
  const std::string_view body = json.substr(1, json.size() - 2);
  // An escape is longer than what it stands for.
  if (body.size() <= text.size()) return body == text;
  return body.find('\\') != std::string_view::npos && Decoded(json) == text;
}

void AppendQuoted(std::string_view text, Escapes escapes, std::string* out) {
  *out += '"';
  size_t pos = 0;
  while (pos < text.size()) {
    const size_t begin = pos;
    uint32_t code = 0;
    if (!ReadUtf8(text, &pos, &code)) {
      *out += kReplacement;
      ++pos;
    } else if (char letter = EscapeLetter(code); letter != '\0') {
      *out += '\\';
      *out += letter;
    } else if (NeedsHexEscape(code, escapes)) {
      AppendUnicodeEscape(code, escapes.upper_hex, out);
    } else {
      out->append(text.substr(begin, pos - begin));
    }
  }
  *out += '"';
}

std::string Quoted(std::string_view text, Escapes escapes) {
  std::string json;
  AppendQuoted(text, escapes, &json);
  return json;
}

bool IsEncodable(std::string_view text) {
  size_t pos = 0;
  uint32_t code = 0;
  while (pos < text.size()) {
    if (!ReadUtf8(text, &pos, &code)) return false;
  }
  return true;
}

}  // namespace cellar::notebook
