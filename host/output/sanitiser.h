// Turns the bytes of one stream into text that is safe to show: valid UTF-8 in which the only
// control characters are newline and tab. It works on any chunking of the bytes and knows nothing
// of budgets, lines kept or files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cellar::host {

// What becomes of the bytes:
// - Invalid UTF-8 becomes U+FFFD, one for each maximal invalid part.
// - Escape sequences (CSI, OSC, DCS and the other strings, two-byte escapes) go. A newline ends
//   any of them, so that one without an end never hides more than its line.
// - Other C0 controls, DEL, C1 and the bidirectional controls go. A C1 character goes alone: it
//   does not start a sequence, since text that was decoded wrongly is full of them.
// - A carriage return goes back to the start of the line: what follows replaces it. The line
//   stays as it is when nothing follows, so CR LF is a newline.
// - A backspace takes away the character before it.
//
// Every newline of the input is one newline of the text. The line under way is held back, since a
// carriage return can still replace it; one longer than kMaxPendingLine is let go in parts, which
// then stand. Memory is that plus a few bytes. The text does not depend on how the input is cut
// into chunks. Not thread-safe.
class Sanitiser {
 public:
  static constexpr size_t kMaxPendingLine = 64 * 1024;

  // Appends to `text` what `bytes` completes.
  void Write(std::string_view bytes, std::string* text);

  // Appends the line under way as it stands; what follows no longer replaces it. A character or an
  // escape sequence that has only begun goes on with the next Write.
  void Flush(std::string* text);

  // The stream has ended: a character that has only begun is invalid.
  void Finish(std::string* text);

  // What Flush would append.
  std::string_view pending_line() const { return line_; }

 private:
  enum class State : uint8_t {
    kText,
    kEscape,        // after ESC
    kEscapeTail,    // after ESC and intermediate bytes
    kCsi,           // after ESC [
    kString,        // in OSC, DCS, SOS, PM or APC
    kStringEscape,  // after ESC in a string
  };

  const char* SkipSequence(const char* at, const char* end);
  const char* TakeCharacter(const char* at, const char* end, std::string* text);
  const char* ContinueCharacter(const char* at, const char* end, std::string* text);
  void TakeControl(char control);
  void AppendPlain(std::string_view run, std::string* text);
  void AppendCharacter(std::string_view character, std::string* text);
  void BeginText();

  std::string line_;
  State state_ = State::kText;
  bool returned_ = false;  // a carriage return was seen, and nothing after it yet
  char partial_[4] = {};   // the first bytes of a character whose rest has not come yet
  uint8_t partial_size_ = 0;
};

}  // namespace cellar::host
