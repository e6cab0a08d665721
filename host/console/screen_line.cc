#include "host/console/screen_line.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <utility>

#include "host/output/utf8.h"

namespace cellar::host {
namespace {

constexpr size_t kUsualWidth = 80;

using Range = std::pair<char32_t, char32_t>;

// The blocks that terminals draw two columns wide, and those they draw on top of what is there. Not
// wcwidth(3): it knows only what the locale knows, and the program sets none.
constexpr std::array<Range, 10> kWide = {{{0x1100, 0x115F},
                                          {0x2E80, 0x303E},
                                          {0x3041, 0xA4CF},
                                          {0xAC00, 0xD7A3},
                                          {0xF900, 0xFAFF},
                                          {0xFE30, 0xFE6F},
                                          {0xFF00, 0xFF60},
                                          {0xFFE0, 0xFFE6},
                                          {0x1F300, 0x1FAFF},
                                          {0x20000, 0x3FFFD}}};
constexpr std::array<Range, 5> kCombining = {
    {{0x0300, 0x036F}, {0x1AB0, 0x1AFF}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}}};

char32_t CodePoint(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (first < 0x80) return first;
  char32_t code = first & (0x7F >> character.size());
  for (char byte : character.substr(1)) code = code << 6 | (byte & 0x3F);
  return code;
}

template <size_t size>
bool IsIn(const std::array<Range, size>& ranges, char32_t code) {
  return std::any_of(ranges.begin(), ranges.end(), [code](const Range& range) {
    return range.first <= code && code <= range.second;
  });
}

size_t WidthOf(char32_t code) {
  if (code < 0x300) return 1;
  return IsIn(kWide, code) ? 2 : IsIn(kCombining, code) ? 0 : 1;
}

}  // namespace

size_t TerminalWidth(int fd) {
  winsize size = {};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsualWidth;
}

std::string CutToWidth(std::string_view text, size_t columns) {
  std::string line;
  size_t width = 0;
  size_t end_with_ellipsis = 0;  // of `line`, where an ellipsis still fits
  while (!text.empty()) {
    const size_t size = Utf8BorderAfter(text, 1);
    const std::string_view character = text.substr(0, size);
    width += WidthOf(CodePoint(character));
    if (width > columns) return columns == 0 ? "" : line.substr(0, end_with_ellipsis) + "…";
    line += character == "\t" ? " " : character;
    if (width < columns) end_with_ellipsis = line.size();
    text.remove_prefix(size);
  }
  return line;
}

}  // namespace cellar::host
