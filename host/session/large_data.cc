#include "host/session/large_data.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "host/base/free_text.h"
#include "host/base/utf8.h"
#include "host/output/mime_text.h"

namespace cellar::host {
namespace {

// Of a text that is in a file: as much as the transcript reads of HTML, and more than it shows.
constexpr uint64_t kTextStartBytes = 128 * 1024;

// In place of its start, if that is there.
void PutBack(const wire::MimeEntry& entry, CellOutput& output) {
  for (wire::MimeEntry& other : output.data) {
    if (other.mime == entry.mime) {
      other = entry;
      return;
    }
  }
  output.data.push_back(entry);
}

bool IsWritten(const SpillFacts& facts) { return !facts.id.empty() && facts.missing_bytes == 0; }

}  // namespace

std::string_view ExtensionOf(const wire::MimeEntry& entry) {
  const std::string_view mime = entry.mime;
  if (mime == "image/png") return "png";
  if (mime == "image/jpeg") return "jpg";
  if (mime == "image/svg+xml") return "svg";
  if (mime == "image/gif") return "gif";
  if (mime == "text/html") return "html";
  if (entry.kind == wire::MimeKind::kJson) return "json";
  return entry.kind == wire::MimeKind::kText ? "txt" : "bin";
}

LargeData::LargeData(const OutputStorage& storage, const SinkOptions& options, Room room,
                     std::vector<wire::MimeEntry>& bundle) {
  std::vector<MimeData> data;
  for (const wire::MimeEntry& entry : bundle) data.push_back({entry.mime, entry.data});
  const MimeData* text = TranscriptEntry(data);
  const uint64_t limit = options.max_inline_bytes == 0 ? std::numeric_limits<uint64_t>::max()
                                                       : options.max_inline_bytes;
  std::vector<wire::MimeEntry> small;
  for (size_t i = 0; i < bundle.size(); ++i) {
    wire::MimeEntry& entry = bundle[i];
    const bool is_text = text == &data[i];
    if (entry.data.size() <= room.inline_bytes && (is_text || entry.data.size() <= limit)) {
      room.inline_bytes -= entry.data.size();
      small.push_back(std::move(entry));
      continue;
    }
    if (is_text) {
      const uint64_t size = std::min({kTextStartBytes, room.inline_bytes, entry.data.size()});
      std::string start = entry.data.substr(0, Utf8BorderBefore(entry.data, size));
      room.inline_bytes -= start.size();
      if (!start.empty()) small.push_back({entry.mime, entry.kind, std::move(start)});
    }
    Write(storage, options, std::move(entry), room);
  }
  bundle = std::move(small);
}

void LargeData::Write(const OutputStorage& storage, const SinkOptions& options,
                      wire::MimeEntry entry, Room& room) {
  const uint64_t bytes = entry.data.size();
  Part& part = parts_.emplace_back(Part{.entry = std::move(entry), .bytes = bytes});
  if (part.bytes > room.waiting_bytes || parts_.size() > room.files) {
    FreeText(part.entry.data);
    return;
  }
  room.waiting_bytes -= part.bytes;
  part.spill = std::make_unique<Spill>(
      storage.writer, storage.artifacts,
      Spill::Options{.extension = std::string(ExtensionOf(part.entry)),
                     .max_waiting_bytes = std::numeric_limits<size_t>::max(),
                     .on_progress = options.on_progress});
  part.spill->Append(part.entry.data);
  part.spill->Close();
}

LargeData& LargeData::operator=(LargeData&& other) noexcept {
  Discard();
  parts_ = std::exchange(other.parts_, {});
  return *this;
}

LargeData::~LargeData() { Discard(); }

void LargeData::Discard() {
  for (Part& part : parts_) {
    if (part.spill != nullptr && !part.is_told) part.spill->Discard();
  }
}

bool LargeData::WantsPause() const {
  return std::any_of(parts_.begin(), parts_.end(), [](const Part& part) {
    return part.spill != nullptr && part.spill->WantsPause();
  });
}

bool LargeData::IsSettled() const {
  return std::all_of(parts_.begin(), parts_.end(), [](const Part& part) {
    return part.spill == nullptr || part.spill->IsSettled();
  });
}

uint64_t LargeData::Release(uint64_t& room) {
  uint64_t waiting = 0;
  for (Part& part : parts_) {
    if (part.entry.data.empty()) continue;
    if (!part.spill->IsSettled()) {
      waiting += part.bytes;
    } else if (IsWritten(part.spill->Facts()) || part.bytes > room) {
      FreeText(part.entry.data);
    } else {
      room -= part.bytes;
    }
  }
  return waiting;
}

void LargeData::PutInto(CellOutput& output, uint64_t& room) {
  for (Part& part : parts_) {
    SavedData& saved =
        output.saved.emplace_back(SavedData{.mime = part.entry.mime, .bytes = part.bytes});
    if (part.spill == nullptr) {
      saved.error = "there was too much of it to be written";
      continue;
    }
    SpillFacts facts = part.spill->Facts();
    part.is_told = part.spill->IsSettled() && IsWritten(facts);
    if (part.is_told) {
      saved.artifact_id = std::move(facts.id);
      saved.artifact_path = std::move(facts.path);
      FreeText(part.entry.data);
      continue;
    }
    saved.error = facts.error.empty() ? "not yet written" : std::move(facts.error);
    if (part.entry.data.empty() || part.bytes > room) continue;
    room -= part.bytes;
    PutBack(part.entry, output);
  }
}

}  // namespace cellar::host
