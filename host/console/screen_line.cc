#include "host/console/screen_line.h"

#include <sys/ioctl.h>

#include "host/console/block_screen.h"
#include "host/console/text_width.h"

namespace cellar::host {
namespace {

// Of a character, in small letters: an image is rather too small than cut.
constexpr size_t kSmallPixels = 8;

}  // namespace

size_t TerminalPixelWidth(int fd) {
  winsize size = {};
  const bool says = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_xpixel > 0;
  if (says) return size.ws_xpixel;
  return static_cast<size_t>(SizeOfScreen(fd).columns) * kSmallPixels;
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
