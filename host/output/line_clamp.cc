#include "host/output/line_clamp.h"

#include <algorithm>

#include "host/base/utf8.h"

namespace cellar::host {

void LineClamp::Append(Stream stream, std::string_view text, OutputWindow* window) {
  if (max_characters_ == 0) {
    window->AppendText(stream, text);
    return;
  }
  size_t passed = 0;  // text[passed, at) is to be appended
  for (size_t at = 0; at < text.size();) {
    const size_t newline = text.find('\n', at);
    const size_t end = std::min(newline, text.size());
    const std::string_view line = text.substr(at, end - at);
    const size_t fitting = LengthThatFits(line);
    if (fitting < line.size()) {
      window->AppendText(stream, text.substr(passed, at + fitting - passed));
      passed = end;
      cut_bytes_ += line.size() - fitting;
      has_cut_ = true;
    }
    if (newline == std::string_view::npos) {
      column_ += CountCharacters(line.substr(0, fitting));
      at = end;
    } else {
      EndLine(stream, window);
      at = end + 1;
    }
  }
  window->AppendText(stream, text.substr(passed));
}

void LineClamp::EndLine(Stream stream, OutputWindow* window) {
  if (cut_bytes_ > 0) window->AppendCut(stream, cut_bytes_);
  cut_bytes_ = 0;
  column_ = 0;
}

size_t LineClamp::LengthThatFits(std::string_view line) const {
  size_t room = max_characters_ - column_;
  if (line.size() <= room) return line.size();
  size_t length = 0;
  while (length < line.size() && room > 0) {
    length = Utf8BorderAfter(line, length + 1);
    --room;
  }
  return length;
}

}  // namespace cellar::host
