#include "host/repl/device_attributes.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_split.h"

namespace cellar::host {
namespace {

constexpr std::string_view kBegin = "\x1b[?";
constexpr char kEnd = 'c';
constexpr std::string_view kSixel = "4";
// Longer than any terminal's.
constexpr size_t kMaxAnswer = 128;

// Where the answer ends: behind it, npos when this is none, or text.size() + 1 when it may be one.
size_t EndOfAnswer(std::string_view text) {
  if (!text.starts_with(kBegin.substr(0, text.size()))) return std::string_view::npos;
  const size_t end = text.find_first_not_of("0123456789;", std::min(text.size(), kBegin.size()));
  if (end == std::string_view::npos) {
    return text.size() < kMaxAnswer ? text.size() + 1 : std::string_view::npos;
  }
  return text[end] == kEnd ? end + 1 : std::string_view::npos;
}

}  // namespace

std::string DeviceAttributes::Take(std::string_view keys) {
  if (is_known_) return std::string(keys);
  const std::string text = std::exchange(kept_, "") + std::string(keys);
  for (size_t at = text.find('\x1b'); at != std::string::npos; at = text.find('\x1b', at + 1)) {
    const std::string_view rest = std::string_view(text).substr(at);
    const size_t end = EndOfAnswer(rest);
    if (end == std::string_view::npos) continue;
    if (end > rest.size()) {
      if (!waits_) break;
      kept_ = rest;
      return text.substr(0, at);
    }
    Read(rest.substr(kBegin.size(), end - kBegin.size() - 1));
    return text.substr(0, at) + std::string(rest.substr(end));
  }
  return text;
}

std::string DeviceAttributes::StopWaiting() {
  waits_ = false;
  return std::exchange(kept_, "");
}

void DeviceAttributes::Read(std::string_view parameters) {
  is_known_ = true;
  // The first one says which terminal it is like.
  const std::vector<std::string> all =
      absl::StrSplit(absl::string_view(parameters.data(), parameters.size()), ';');
  shows_sixel_ = std::find(all.begin() + 1, all.end(), kSixel) != all.end();
}

}  // namespace cellar::host
