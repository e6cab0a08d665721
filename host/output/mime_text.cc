#include "host/output/mime_text.h"

#include "host/output/html_markdown.h"
#include "host/output/printable.h"

namespace cellar::host {

const MimeData* TranscriptEntry(std::span<const MimeData> bundle) {
  for (std::string_view type : {"text/markdown", "text/plain", "text/html"}) {
    for (const MimeData& entry : bundle) {
      if (entry.type == type && !entry.data.empty()) return &entry;
    }
  }
  return nullptr;
}

std::string ReadableText(const MimeData& entry) {
  return Printable(entry.type == "text/html" ? HtmlToMarkdown(entry.data)
                                             : std::string(entry.data));
}

std::optional<std::string> TranscriptText(std::span<const MimeData> bundle) {
  const MimeData* entry = TranscriptEntry(bundle);
  if (entry == nullptr) return std::nullopt;
  return ReadableText(*entry);
}

}  // namespace cellar::host
