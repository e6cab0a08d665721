#include "host/output/mime_text.h"

#include <algorithm>

#include "host/output/html_markdown.h"
#include "host/output/printable.h"

namespace cellar::host {
namespace {

std::string_view Find(std::span<const MimeData> bundle, std::string_view type) {
  const auto found = std::find_if(bundle.begin(), bundle.end(), [type](const MimeData& entry) {
    return entry.type == type && !entry.data.empty();
  });
  return found == bundle.end() ? std::string_view() : found->data;
}

}  // namespace

std::optional<std::string> TranscriptText(std::span<const MimeData> bundle) {
  for (std::string_view type : {"text/markdown", "text/plain"}) {
    if (const std::string_view text = Find(bundle, type); !text.empty()) return Printable(text);
  }
  if (const std::string_view html = Find(bundle, "text/html"); !html.empty()) {
    return Printable(HtmlToMarkdown(html));
  }
  return std::nullopt;
}

}  // namespace cellar::host
