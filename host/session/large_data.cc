#include "host/session/large_data.h"

#include <limits>
#include <string_view>
#include <utility>

#include "host/output/mime_text.h"

namespace cellar::host {
namespace {

std::string_view ExtensionOf(const wire::MimeEntry& entry) {
  const std::string_view mime = entry.mime;
  if (mime == "image/png") return "png";
  if (mime == "image/jpeg") return "jpg";
  if (mime == "image/svg+xml") return "svg";
  if (mime == "text/html") return "html";
  if (entry.kind == wire::MimeKind::kJson) return "json";
  return entry.kind == wire::MimeKind::kText ? "txt" : "bin";
}

bool IsWritten(const SpillFacts& facts) { return !facts.id.empty() && facts.missing_bytes == 0; }

}  // namespace

LargeData::LargeData(const OutputStorage& storage, const SinkOptions& options,
                     std::vector<wire::MimeEntry>& bundle) {
  if (options.max_inline_bytes == 0) return;
  std::vector<MimeData> data;
  for (const wire::MimeEntry& entry : bundle) data.push_back({entry.mime, entry.data});
  const MimeData* text = TranscriptEntry(data);
  std::vector<wire::MimeEntry> small;
  for (size_t i = 0; i < bundle.size(); ++i) {
    wire::MimeEntry& entry = bundle[i];
    if (entry.data.size() <= options.max_inline_bytes || text == &data[i]) {
      small.push_back(std::move(entry));
      continue;
    }
    auto spill = std::make_unique<Spill>(
        storage.writer, storage.artifacts,
        Spill::Options{.extension = std::string(ExtensionOf(entry)),
                       .max_waiting_bytes = std::numeric_limits<size_t>::max(),
                       .on_progress = options.on_progress});
    spill->Append(entry.data);
    spill->Close();
    const uint64_t bytes = entry.data.size();
    parts_.push_back({.entry = std::move(entry), .bytes = bytes, .spill = std::move(spill)});
  }
  bundle = std::move(small);
}

LargeData& LargeData::operator=(LargeData&& other) noexcept {
  Discard();
  parts_ = std::exchange(other.parts_, {});
  return *this;
}

LargeData::~LargeData() { Discard(); }

void LargeData::Discard() {
  for (Part& part : parts_) {
    if (!part.is_told) part.spill->Discard();
  }
}

bool LargeData::WantsPause() const {
  for (const Part& part : parts_) {
    if (part.spill->WantsPause()) return true;
  }
  return false;
}

bool LargeData::IsSettled() const {
  for (const Part& part : parts_) {
    if (!part.spill->IsSettled()) return false;
  }
  return true;
}

size_t LargeData::ReleaseWritten() {
  size_t left = 0;
  for (Part& part : parts_) {
    if (part.entry.data.empty()) continue;
    if (part.spill->IsSettled() && IsWritten(part.spill->Facts())) part.entry.data = std::string();
    left += part.entry.data.size();
  }
  return left;
}

void LargeData::PutInto(CellOutput& output) {
  ReleaseWritten();
  for (Part& part : parts_) {
    SavedData saved = {.mime = part.entry.mime, .bytes = part.bytes};
    SpillFacts facts = part.spill->Facts();
    part.is_told = part.entry.data.empty();
    if (part.is_told) {
      saved.artifact_id = std::move(facts.id);
      saved.artifact_path = std::move(facts.path);
    } else {
      saved.error = facts.error.empty() ? "not yet written" : std::move(facts.error);
      output.data.push_back(part.entry);
    }
    output.saved.push_back(std::move(saved));
  }
}

}  // namespace cellar::host
