#include "host/output/sanitiser.h"

#include <algorithm>

#include "host/base/utf8.h"
#include "host/output/unwanted.h"

namespace cellar::host {
namespace {

constexpr char kEsc = '\x1B';
constexpr char kBel = '\x07';
constexpr char kCancel = '\x18';
constexpr char kSubstitute = '\x1A';
constexpr char32_t kCsiCodePoint = 0x9B;  // `ESC [` in one

bool InRange(char byte, unsigned char low, unsigned char high) {
  const auto value = static_cast<unsigned char>(byte);
  return value >= low && value <= high;
}

bool IsPlain(char byte) { return InRange(byte, 0x20, 0x7E) || byte == '\n' || byte == '\t'; }

// The end of the plain ASCII text that begins at `at`. The inner loop has no branch and a fixed
// length, so that the compiler makes vector code of it.
const char* PlainEnd(const char* at, const char* end) {
  constexpr ptrdiff_t kBlock = 64;
  while (end - at >= kBlock) {
    unsigned char other = 0;
    for (ptrdiff_t i = 0; i < kBlock; ++i) {
      const auto byte = static_cast<unsigned char>(at[i]);
      const bool printable = static_cast<unsigned char>(byte - 0x20) < 0x5F;
      other |= static_cast<unsigned char>(!(printable | (byte == '\n') | (byte == '\t')));
    }
    if (other != 0) break;
    at += kBlock;
  }
  while (at < end && IsPlain(*at)) ++at;
  return at;
}

// How many bytes a character has that begins with `lead`; 0 if none does.
size_t CharacterSize(char lead) {
  if (InRange(lead, 0xC2, 0xDF)) return 2;
  if (InRange(lead, 0xE0, 0xEF)) return 3;
  if (InRange(lead, 0xF0, 0xF4)) return 4;
  return 0;
}

// Whether `next` can follow the first `size` bytes of a character (Unicode, table 3-7: no overlong
// forms, no surrogates, nothing above U+10FFFF).
bool Continues(const char* begin, size_t size, char next) {
  if (size == 1) {
    switch (static_cast<unsigned char>(*begin)) {
      case 0xE0:
        return InRange(next, 0xA0, 0xBF);
      case 0xED:
        return InRange(next, 0x80, 0x9F);
      case 0xF0:
        return InRange(next, 0x90, 0xBF);
      case 0xF4:
        return InRange(next, 0x80, 0x8F);
      default:
        break;
    }
  }
  return IsUtf8Continuation(next);
}

}  // namespace

void Sanitiser::Write(std::string_view bytes, std::string* text) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while (at < end) {
    if (state_ != State::kText) {
      at = SkipSequence(at, end);
    } else if (partial_size_ > 0) {
      at = ContinueCharacter(at, end, text);
    } else if (IsPlain(*at)) {
      const char* const run = at;
      at = PlainEnd(run, end);
      AppendPlain({run, static_cast<size_t>(at - run)}, text);
    } else if (InRange(*at, 0x80, 0xFF)) {
      at = TakeCharacter(at, end, text);
    } else {
      TakeControl(*at++);
    }
  }
}

void Sanitiser::Flush(std::string* text) {
  text->append(line_);
  line_.clear();
}

void Sanitiser::Finish(std::string* text) {
  if (partial_size_ > 0) AppendCharacter(kReplacementCharacter, text);
  partial_size_ = 0;
  state_ = State::kText;
  returned_ = false;
  Flush(text);
}

// Goes one step through an escape sequence. A byte that cannot be part of it ends it and is left to
// be read as text.
const char* Sanitiser::SkipSequence(const char* at, const char* end) {
  const char byte = *at;
  const bool is_intermediate = InRange(byte, 0x20, 0x2F);
  const bool is_final = InRange(byte, 0x30, 0x7E);
  switch (state_) {
    case State::kEscape:
      if (byte == '[') {
        state_ = State::kCsi;
      } else if (std::string_view("]PX^_").find(byte) != std::string_view::npos) {
        state_ = State::kString;
      } else {
        state_ = is_intermediate ? State::kEscapeTail : State::kText;
      }
      return is_intermediate || is_final ? at + 1 : at;
    case State::kEscapeTail:
      if (is_intermediate) return at + 1;
      state_ = State::kText;
      return is_final ? at + 1 : at;
    case State::kCsi:
      if (InRange(byte, 0x20, 0x3F)) return at + 1;
      state_ = State::kText;
      return is_final ? at + 1 : at;
    case State::kString:
      while (at < end && *at != kEsc && *at != '\n' && *at != kBel && *at != kCancel &&
             *at != kSubstitute) {
        ++at;
      }
      if (at == end) return end;
      state_ = *at == kEsc ? State::kStringEscape : State::kText;
      return *at == '\n' ? at : at + 1;
    case State::kStringEscape:
      state_ = byte == '\\' ? State::kText : State::kEscape;
      return byte == '\\' ? at + 1 : at;
    case State::kText:
      break;
  }
  return at;
}

const char* Sanitiser::TakeCharacter(const char* at, const char* end, std::string* text) {
  const size_t size = CharacterSize(*at);
  const size_t available = static_cast<size_t>(end - at);
  size_t valid = 1;
  while (valid < size && valid < available && Continues(at, valid, at[valid])) ++valid;
  if (valid < size && valid == available) {
    std::copy(at, end, partial_);
    partial_size_ = static_cast<uint8_t>(valid);
  } else {
    AppendCharacter(valid == size ? std::string_view(at, size) : kReplacementCharacter, text);
  }
  return at + valid;
}

const char* Sanitiser::ContinueCharacter(const char* at, const char* end, std::string* text) {
  const size_t size = CharacterSize(partial_[0]);
  while (at < end && partial_size_ < size && Continues(partial_, partial_size_, *at)) {
    partial_[partial_size_++] = *at++;
  }
  if (at == end && partial_size_ < size) return end;
  AppendCharacter(partial_size_ == size ? std::string_view(partial_, size) : kReplacementCharacter,
                  text);
  partial_size_ = 0;
  return at;
}

void Sanitiser::TakeControl(char control) {
  if (control == kEsc) {
    state_ = State::kEscape;
  } else if (control == '\r') {
    returned_ = true;
  } else if (control == '\b' && !returned_ && !line_.empty()) {
    line_.resize(Utf8BorderBefore(line_, line_.size() - 1));
  }
}

void Sanitiser::AppendPlain(std::string_view run, std::string* text) {
  if (run.front() == '\n') {
    returned_ = false;
  } else {
    BeginText();
  }
  const size_t newline = run.rfind('\n');
  if (newline != std::string_view::npos) {
    Flush(text);
    text->append(run.substr(0, newline + 1));
    run.remove_prefix(newline + 1);
  }
  while (!run.empty()) {
    const size_t room = kMaxPendingLine - line_.size();
    if (room == 0) {
      Flush(text);
      continue;
    }
    const std::string_view part = run.substr(0, room);
    line_.append(part);
    run.remove_prefix(part.size());
  }
}

void Sanitiser::AppendCharacter(std::string_view character, std::string* text) {
  const char32_t code_point = CodePointOf(character);
  // The strings among the eight-bit controls are not looked for: U+009D is common in text that was
  // decoded wrongly, and the rest of the line would go with it.
  if (code_point == kCsiCodePoint) state_ = State::kCsi;
  if (IsUnwanted(code_point)) return;
  BeginText();
  if (line_.size() + character.size() > kMaxPendingLine) Flush(text);
  line_.append(character);
}

void Sanitiser::BeginText() {
  if (returned_) line_.clear();
  returned_ = false;
}

}  // namespace cellar::host
