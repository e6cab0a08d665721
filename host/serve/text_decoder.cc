#include "host/serve/text_decoder.h"

namespace cellar::host {
namespace {

constexpr size_t kLongestCharacter = 4;

bool IsContinuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// How many bytes the character has that starts with this one; 1 for a byte that starts none.
size_t CharacterSize(char first) {
  const auto byte = static_cast<unsigned char>(first);
  if (byte >= 0xF0 && byte < 0xF5) return 4;
  if (byte >= 0xE0 && byte < 0xF0) return 3;
  if (byte >= 0xC2 && byte < 0xE0) return 2;
  return 1;
}

}  // namespace

std::string TextDecoder::Decode(std::string_view bytes) {
  std::string text = Finish();
  text += bytes;
  for (size_t back = 1; back < kLongestCharacter && back <= text.size(); ++back) {
    const char byte = text[text.size() - back];
    if (IsContinuation(byte)) continue;
    if (CharacterSize(byte) > back) {
      text.copy(partial_.data(), back, text.size() - back);
      partial_size_ = static_cast<uint8_t>(back);
      text.resize(text.size() - back);
    }
    break;
  }
  return text;
}

}  // namespace cellar::host
