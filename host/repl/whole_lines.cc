#include "host/repl/whole_lines.h"

#include "host/base/utf8.h"

namespace cellar::host {

void WholeLines::Add(Stream stream, std::string_view text) {
  if (stream != stream_) End();
  stream_ = stream;
  if (const size_t end = text.rfind('\n') + 1; end > 0) {
    show_(stream, std::exchange(line_, "") + std::string(text.substr(0, end)));
    text.remove_prefix(end);
  }
  line_ += text;
  while (line_.size() > kMaxLineBytes) {
    size_t end = Utf8BorderBefore(line_, kMaxLineBytes);
    if (end == 0) end = kMaxLineBytes;  // bytes that are no text
    show_(stream, line_.substr(0, end) + "\n");
    line_.erase(0, end);
  }
}

void WholeLines::End() {
  if (!line_.empty()) show_(stream_, std::exchange(line_, "") + "\n");
}

}  // namespace cellar::host
