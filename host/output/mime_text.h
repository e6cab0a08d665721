// Which text of a MIME bundle goes into the transcript. Images, JSON and the rest are kept apart by
// the caller.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cellar::host {

struct MimeData {
  std::string_view type;
  std::string_view data;
};

// text/markdown, else text/plain, else text/html; the first that is not empty. Null if the bundle
// has no text.
const MimeData* TranscriptEntry(std::span<const MimeData> bundle);

// What such an entry says, HTML as markdown: Printable but not bounded.
std::string ReadableText(const MimeData& entry);

// The text of a bundle, if it has one.
std::optional<std::string> TranscriptText(std::span<const MimeData> bundle);

}  // namespace cellar::host
