#include "host/console/inline_image.h"

#include <sys/ioctl.h>

#include <algorithm>

#include "absl/strings/escaping.h"
#include "host/console/raster.h"
#include "host/console/sixel.h"
#include "host/console/terminal.h"

namespace cellar::host {
namespace {

// More than this through a terminal takes longer than opening the file.
constexpr size_t kMaxBytes = 8u << 20;
// Of base64 in one escape sequence of kitty's graphics protocol.
constexpr size_t kKittyChunk = 4096;
// The width of a character in small letters: an image is rather too small than cut.
constexpr size_t kSmallPixels = 8;

std::string Kitty(std::string_view base64) {
  std::string text;
  std::string_view control = "a=T,f=100,";
  while (!base64.empty()) {
    const size_t size = std::min(base64.size(), kKittyChunk);
    text += "\x1b_G";
    text += control;
    text += size < base64.size() ? "m=1;" : "m=0;";
    text += base64.substr(0, size);
    text += "\x1b\\";
    base64.remove_prefix(size);
    control = "";
  }
  return text;
}

std::string SixelOfPng(std::string_view png, size_t max_width) {
  std::optional<Raster> raster = DecodePng(png);
  return raster ? Sixel(Quantised(ScaledDown(*std::move(raster), max_width))) : "";
}

}  // namespace

ImageProtocol ImageProtocolOf(const Environment& env) {
  const std::string term = EnvironmentValue(env, "TERM");
  if (!EnvironmentValue(env, "TMUX").empty() || term.starts_with("screen") ||
      term.starts_with("tmux") || term == "dumb") {
    return ImageProtocol::kNone;
  }
  const std::string program = EnvironmentValue(env, "TERM_PROGRAM");
  if (term == "xterm-kitty" || term == "xterm-ghostty" ||
      !EnvironmentValue(env, "KITTY_WINDOW_ID").empty()) {
    return ImageProtocol::kKitty;
  }
  if (program == "iTerm.app" || program == "WezTerm" || program == "mintty") {
    return ImageProtocol::kITerm;
  }
  if (term.starts_with("foot") || term.starts_with("mlterm")) return ImageProtocol::kSixel;
  return ImageProtocol::kNone;
}

size_t TerminalPixelWidth(int fd) {
  winsize size = {};
  const bool says = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_xpixel > 0;
  if (says) return size.ws_xpixel;
  return static_cast<size_t>(SizeOfScreen(fd).columns) * kSmallPixels;
}

std::string InlineImage(ImageProtocol protocol, std::string_view mime, std::string_view data,
                        size_t max_width) {
  const bool is_png = mime == "image/png";
  if (data.empty() || data.size() > kMaxBytes || (!is_png && mime != "image/jpeg")) return "";
  if (protocol == ImageProtocol::kSixel) return is_png ? SixelOfPng(data, max_width) : "";
  const std::string base64 = absl::Base64Escape(absl::string_view(data.data(), data.size()));
  switch (protocol) {
    case ImageProtocol::kKitty:
      return is_png ? Kitty(base64) : "";
    case ImageProtocol::kITerm:
      return "\x1b]1337;File=inline=1;size=" + std::to_string(data.size()) + ":" + base64 + "\a";
    default:
      return "";
  }
}

}  // namespace cellar::host
