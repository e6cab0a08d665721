#include "host/execute/cell_recorder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/base/utf8.h"
#include "host/session/clear_display.h"

namespace cellar::host {
namespace {

using Kind = RecordedOutput::Kind;

// What an output takes in a file beside its text, so that many small ones are bounded too.
constexpr size_t kOutputCost = 128;

size_t SizeOf(const std::vector<wire::MimeEntry>& data, const std::string& metadata) {
  size_t size = kOutputCost + metadata.size();
  for (const wire::MimeEntry& entry : data) size += entry.mime.size() + entry.data.size();
  return size;
}

// Where the part of `text` begins that is left when at least `count` bytes go: at a line if one
// begins soon, or else at a character.
size_t CutAfter(std::string_view text, size_t count) {
  constexpr size_t kSoon = 64 << 10;  // bytes
  const size_t newline = text.substr(count, kSoon).find('\n');
  return newline == std::string_view::npos ? Utf8BorderAfter(text, count) : count + newline + 1;
}

RecordedOutput Note(std::string text) {
  return {.stream = Stream::kStderr, .text = absl::StrCat("[cellar: ", text, "]\n")};
}

}  // namespace

void CellRecorder::AddText(Stream stream, std::string_view bytes) {
  ClearIfAsked();
  if (bytes.empty()) return;
  if (!has_tail_ && head_bytes_ >= kHeadBytes) {
    has_tail_ = true;
    tail_begin_ = outputs_.size();
  }
  const bool may_join = !outputs_.empty() && (!has_tail_ || outputs_.size() > tail_begin_);
  size_t& size = has_tail_ ? tail_bytes_ : head_bytes_;
  if (may_join && outputs_.back().kind == Kind::kStream && outputs_.back().stream == stream) {
    outputs_.back().text += bytes;
    size += bytes.size();
  } else {
    outputs_.push_back({.stream = stream, .text = std::string(bytes)});
    size += bytes.size() + kOutputCost;
  }
  // Not at every write: cutting moves what is kept.
  if (tail_bytes_ > 2 * kTailBytes) TrimTail();
}

void CellRecorder::AddDisplay(const wire::Display& display) {
  switch (display.kind) {
    case wire::DisplayKind::kStatus:
    case wire::DisplayKind::kUpdate:
      return;
    case wire::DisplayKind::kClear:
      clear_at_next_ = ClearsWithNext(display);
      if (!clear_at_next_) Clear();
      return;
    case wire::DisplayKind::kResult:
    case wire::DisplayKind::kDisplay:
      break;
  }
  const bool is_result = display.kind == wire::DisplayKind::kResult;
  Add({.kind = is_result ? Kind::kResult : Kind::kDisplay,
       .data = display.data,
       .metadata = display.metadata,
       .display_id = display.display_id});
}

void CellRecorder::AddDisplay(CellOutput output) {
  if (output.type != CellOutput::Type::kDisplay || output.update) return;
  Add({.kind = Kind::kDisplay,
       .data = std::move(output.data),
       .metadata = std::move(output.metadata),
       .display_id = std::move(output.display_id)});
}

void CellRecorder::AddError(CellError error) {
  ClearIfAsked();
  outputs_.push_back({.kind = Kind::kError, .error = std::move(error)});
}

void CellRecorder::Add(RecordedOutput output) {
  ClearIfAsked();
  const size_t size = SizeOf(output.data, output.metadata);
  if (display_bytes_ + size > kDisplayBytes) {
    ++omitted_displays_;
    return;
  }
  display_bytes_ += size;
  outputs_.push_back(std::move(output));
}

bool CellRecorder::Update(const std::string& display_id, const std::vector<wire::MimeEntry>& data,
                          const std::string& metadata) {
  bool found = false;
  for (RecordedOutput& output : outputs_) {
    if (output.display_id.empty() || output.display_id != display_id) continue;
    found = true;
    const size_t without = display_bytes_ - SizeOf(output.data, output.metadata);
    const size_t size = SizeOf(data, metadata);
    if (without + size > kDisplayBytes) {
      ++omitted_displays_;
      continue;
    }
    display_bytes_ = without + size;
    output.data = data;
    output.metadata = metadata;
  }
  return found;
}

bool CellRecorder::HasDisplayIds() const {
  return std::any_of(outputs_.begin(), outputs_.end(),
                     [](const RecordedOutput& output) { return !output.display_id.empty(); });
}

std::vector<RecordedOutput> CellRecorder::Outputs(const std::string& artifact) const {
  std::vector<RecordedOutput> outputs = outputs_;
  if (omitted_bytes_ > 0) {
    std::string text = absl::StrCat(omitted_bytes_, " bytes of output are left out here");
    if (!artifact.empty()) absl::StrAppend(&text, "; all of it is in ", artifact);
    outputs.insert(outputs.begin() + static_cast<ptrdiff_t>(tail_begin_), Note(text));
  }
  if (omitted_displays_ > 0) {
    outputs.push_back(
        Note(absl::StrCat(omitted_displays_, " displays are left out: a cell may have ",
                          kDisplayBytes >> 20, " MiB of them")));
  }
  return outputs;
}

void CellRecorder::Clear() { *this = CellRecorder(); }

void CellRecorder::ClearIfAsked() {
  if (clear_at_next_) Clear();
}

// Takes the oldest text of the tail away until kTailBytes are left; displays among it stay.
void CellRecorder::TrimTail() {
  for (size_t i = tail_begin_; i < outputs_.size() && tail_bytes_ > kTailBytes; ++i) {
    RecordedOutput& output = outputs_[i];
    if (output.kind != Kind::kStream || output.text.empty()) continue;
    const size_t surplus = tail_bytes_ - kTailBytes;
    const size_t cut = std::min(output.text.size(), surplus);
    const size_t removed = CutAfter(output.text, cut);
    output.text.erase(0, removed);
    omitted_bytes_ += removed;
    tail_bytes_ -= removed;
    if (output.text.empty()) tail_bytes_ -= std::min(kOutputCost, tail_bytes_);
  }
  std::erase_if(outputs_, [](const RecordedOutput& output) {
    return output.kind == Kind::kStream && output.text.empty();
  });
}

}  // namespace cellar::host
