#include "notebook/json_scanner.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <bit>
#include <bitset>
#include <cstdint>
#include <cstring>

namespace cellar::notebook {
namespace {

constexpr uint64_t kSpaces = 0x2020202020202020;

bool IsStringStop(char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; }

// The first quote, backslash or control character. Almost all bytes of a notebook lie in strings,
// so this decides the speed of a scan.
size_t FindStringStop(std::string_view text, size_t pos) {
#ifdef __SSE2__
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i last_control = _mm_set1_epi8(0x1f);
  while (pos + sizeof(__m128i) <= text.size()) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + pos));
    const __m128i controls = _mm_cmpeq_epi8(_mm_min_epu8(bytes, last_control), bytes);
    const __m128i stops = _mm_or_si128(
        controls, _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(stops));
    if (mask != 0) return pos + std::countr_zero(mask);
    pos += sizeof(bytes);
  }
#endif
  while (pos < text.size() && !IsStringStop(text[pos])) ++pos;
  return pos;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsHexDigit(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

bool IsShortEscape(char letter) {
  switch (letter) {
    case 'n':
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'r':
    case 't':
      return true;
    default:
      return false;
  }
}

bool IsFourHexDigits(std::string_view text) {
  return text.size() == 4 && IsHexDigit(text[0]) && IsHexDigit(text[1]) && IsHexDigit(text[2]) &&
         IsHexDigit(text[3]);
}

}  // namespace

bool JsonScanner::EnterObject() { return Enter('{', "expected an object"); }

bool JsonScanner::NextMember(Span* key) {
  if (!Next('}', "expected ',' or '}'")) return false;
  SkipWhitespace();
  key->begin = static_cast<uint32_t>(pos_);
  if (!SkipString()) return false;
  key->end = static_cast<uint32_t>(pos_);
  return SkipColon();
}

bool JsonScanner::EnterArray() { return Enter('[', "expected a list"); }

bool JsonScanner::NextItem() { return Next(']', "expected ',' or ']'"); }

bool JsonScanner::SkipValue(Span* value) {
  if (failed()) return false;
  const char first = Peek();
  const size_t begin = pos_;
  if (!(first == '{' || first == '[' ? SkipContainer() : SkipScalar())) return false;
  *value = {static_cast<uint32_t>(begin), static_cast<uint32_t>(pos_)};
  return true;
}

bool JsonScanner::ExpectEnd() {
  if (failed()) return false;
  SkipWhitespace();
  return pos_ == text_.size() || Fail("expected nothing more");
}

bool JsonScanner::Fail(const char* expected) {
  if (failure_ == nullptr) failure_ = expected;
  return false;
}

// Of an indented file the most part after strings is runs of spaces.
void JsonScanner::SkipWhitespaceRun() {
  static_assert(std::endian::native == std::endian::little, "the first byte must be the lowest");
  while (pos_ < text_.size()) {
    const char c = text_[pos_];
    if (c != ' ' && c != '\n' && c != '\r' && c != '\t') return;
    ++pos_;
    uint64_t word;
    while (pos_ + sizeof(word) <= text_.size()) {
      std::memcpy(&word, text_.data() + pos_, sizeof(word));
      const uint64_t others = word ^ kSpaces;
      if (others != 0) {
        pos_ += std::countr_zero(others) / 8;
        break;
      }
      pos_ += sizeof(word);
    }
  }
}

bool JsonScanner::Enter(char open, const char* expected) {
  if (failed()) return false;
  if (Peek() != open) return Fail(expected);
  ++pos_;
  ++depth_;
  just_entered_ = true;
  return true;
}

bool JsonScanner::Next(char close, const char* expected) {
  if (failed()) return false;
  const char c = Peek();
  if (c == close) {
    ++pos_;
    --depth_;
    just_entered_ = false;
    return false;
  }
  if (!just_entered_) {
    if (c != ',') return Fail(expected);
    ++pos_;
  }
  just_entered_ = false;
  return true;
}

// Not recursive: a file must not be able to exhaust the stack.
bool JsonScanner::SkipContainer() {
  // Metadata and outputs are empty more often than not.
  const char closing = text_[pos_] == '{' ? '}' : ']';
  if (depth_ < kMaxJsonDepth && pos_ + 1 < text_.size() && text_[pos_ + 1] == closing) {
    pos_ += 2;
    return true;
  }
  std::bitset<kMaxJsonDepth + 1> is_object;  // by depth
  int depth = depth_;
  bool at_value = true;
  do {
    const char c = Peek();
    if (at_value && (c == '{' || c == '[')) {
      if (depth == kMaxJsonDepth) return Fail("expected less nesting");
      is_object[++depth] = c == '{';
      ++pos_;
      at_value = Peek() != (c == '{' ? '}' : ']');
      if (at_value && c == '{' && !SkipKey()) return false;
    } else if (at_value) {
      if (!SkipScalar()) return false;
      at_value = false;
    } else if (c == ',') {
      ++pos_;
      at_value = true;
      if (is_object[depth] && !SkipKey()) return false;
    } else if (c == (is_object[depth] ? '}' : ']')) {
      ++pos_;
      --depth;
    } else {
      return Fail(is_object[depth] ? "expected ',' or '}'" : "expected ',' or ']'");
    }
  } while (depth > depth_);
  return true;
}

bool JsonScanner::SkipKey() {
  SkipWhitespace();
  return SkipString() && SkipColon();
}

bool JsonScanner::SkipColon() {
  if (Peek() != ':') return Fail("expected ':'");
  ++pos_;
  return true;
}

bool JsonScanner::SkipString() {
  if (pos_ >= text_.size() || text_[pos_] != '"') return Fail("expected a string in double quotes");
  ++pos_;
  while (true) {
    pos_ = FindStringStop(text_, pos_);
    if (pos_ == text_.size()) return Fail("expected the end of a string");
    if (text_[pos_] == '"') {
      ++pos_;
      return true;
    }
    if (text_[pos_] != '\\') return Fail("expected no bare control character in a string");
    const char escaped = pos_ + 1 < text_.size() ? text_[pos_ + 1] : '\0';
    if (escaped == 'u' && IsFourHexDigits(text_.substr(pos_ + 2, 4))) {
      pos_ += 6;
    } else if (IsShortEscape(escaped)) {
      pos_ += 2;
    } else {
      return Fail("expected an escape that JSON knows");
    }
  }
}

bool JsonScanner::SkipScalar() {
  const char c = Peek();
  if (c == '"') return SkipString();
  for (std::string_view word : {"true", "false", "null", "NaN", "Infinity", "-Infinity"}) {
    if (word[0] == c && text_.substr(pos_, word.size()) == word) {
      pos_ += word.size();
      return true;
    }
  }
  if (c == '-' || IsDigit(c)) return SkipNumber();
  return Fail("expected a value");
}

bool JsonScanner::SkipNumber() {
  if (text_[pos_] == '-') ++pos_;
  if (pos_ < text_.size() && text_[pos_] == '0') {
    ++pos_;
  } else if (!SkipDigits()) {
    return false;
  }
  if (pos_ < text_.size() && text_[pos_] == '.') {
    ++pos_;
    if (!SkipDigits()) return false;
  }
  if (pos_ < text_.size() && (text_[pos_] == 'e' || text_[pos_] == 'E')) {
    ++pos_;
    if (pos_ < text_.size() && (text_[pos_] == '+' || text_[pos_] == '-')) ++pos_;
    if (!SkipDigits()) return false;
  }
  return true;
}

bool JsonScanner::SkipDigits() {
  const size_t begin = pos_;
  while (pos_ < text_.size() && IsDigit(text_[pos_])) ++pos_;
  return pos_ > begin || Fail("expected a digit");
}

std::vector<Member> Members(std::string_view text, Span object) {
  std::vector<Member> members;
  JsonScanner scanner(text, object.begin);
  Member member;
  scanner.EnterObject();
  while (scanner.NextMember(&member.key) && scanner.SkipValue(&member.value)) {
    members.push_back(member);
  }
  return members;
}

std::vector<Span> Items(std::string_view text, Span array) {
  std::vector<Span> items;
  JsonScanner scanner(text, array.begin);
  Span item;
  scanner.EnterArray();
  while (scanner.NextItem() && scanner.SkipValue(&item)) items.push_back(item);
  return items;
}

}  // namespace cellar::notebook
