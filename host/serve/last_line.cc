#include "host/serve/last_line.h"

#include <algorithm>

#include "host/base/utf8.h"

namespace cellar::host {
namespace {

// Of a longer one the end is kept.
constexpr size_t kMaxBytes = 4096;

}  // namespace

void LastLine::OnText(Stream, std::string_view bytes) {
  if (const size_t newline = bytes.rfind('\n'); newline != bytes.npos) {
    text_.clear();
    bytes.remove_prefix(newline + 1);
  }
  text_.append(bytes.substr(bytes.size() - std::min(bytes.size(), kMaxBytes)));
  if (text_.size() > kMaxBytes) text_.erase(0, Utf8BorderAfter(text_, text_.size() - kMaxBytes));
}

}  // namespace cellar::host
