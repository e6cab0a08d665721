#include "host/session/output_log.h"

#include <algorithm>
#include <utility>

namespace cellar::host {
namespace {

// What one cell may keep of displays; beyond, a note stands in their place.
constexpr size_t kMaxDisplays = 1000;
constexpr uint64_t kMaxMemoryBytes = 256u << 20;  // of what is not in a file

CellOutput::Type TypeOf(wire::DisplayKind kind) {
  switch (kind) {
    case wire::DisplayKind::kResult:
      return CellOutput::Type::kResult;
    case wire::DisplayKind::kStatus:
      return CellOutput::Type::kStatus;
    default:
      return CellOutput::Type::kDisplay;
  }
}

uint64_t SizeOf(const std::vector<wire::MimeEntry>& data) {
  uint64_t size = 0;
  for (const wire::MimeEntry& entry : data) size += entry.mime.size() + entry.data.size();
  return size;
}

}  // namespace

OutputLog::OutputLog(const OutputStorage& storage, SinkOptions options)
    : storage_(storage),
      options_(std::move(options)),
      sink_(std::make_unique<Sink>(storage_.writer, &storage_.artifacts, options_)) {}

void OutputLog::AddText(Stream stream, std::string_view bytes) {
  if (clear_at_next_) Clear();
  empty_ = false;
  sink_->Write(stream, bytes);
}

void OutputLog::AddDisplay(wire::Display display) {
  if (display.kind == wire::DisplayKind::kClear) {
    clear_at_next_ = display.metadata.find("true") != std::string::npos;  // {"wait": true}
    if (!clear_at_next_) Clear();
    return;
  }
  if (clear_at_next_) Clear();
  bool update = display.kind == wire::DisplayKind::kUpdate;
  if (update && ReplaceShown(display)) return;
  Add({.type = TypeOf(display.kind),
       .data = std::move(display.data),
       .metadata = std::move(display.metadata),
       .display_id = std::move(display.display_id),
       .update = update});
}

void OutputLog::Add(CellOutput output) {
  empty_ = false;
  if (is_full_) return;
  const uint64_t size = SizeOf(output.data);
  if (displays_.size() == kMaxDisplays || !HasRoomFor(size)) return TellFull();
  LargeData large(storage_, options_, output.data);
  sink_->Place(static_cast<uint32_t>(displays_.size()));
  displays_.push_back({.output = std::move(output), .large = std::move(large), .bytes = size});
  display_bytes_ += size;
}

bool OutputLog::ReplaceShown(const wire::Display& display) {
  bool replaced = false;
  const uint64_t size = SizeOf(display.data);
  for (Display& shown : displays_) {
    if (shown.output.display_id != display.display_id) continue;
    replaced = true;
    if (is_full_) continue;
    if (!HasRoomFor(size)) {
      TellFull();
      continue;
    }
    shown.output.data = display.data;
    shown.output.metadata = display.metadata;
    shown.large = LargeData(storage_, options_, shown.output.data);
    display_bytes_ += size - std::exchange(shown.bytes, size);
  }
  return replaced;
}

bool OutputLog::HasRoomFor(uint64_t size) {
  if (display_bytes_ + size <= kMaxMemoryBytes) return true;
  uint64_t in_memory = 0;
  for (Display& shown : displays_) {
    in_memory += SizeOf(shown.output.data) + shown.large.ReleaseWritten();
  }
  return in_memory + size <= kMaxMemoryBytes &&
         display_bytes_ + size <= options_.max_artifact_bytes;
}

void OutputLog::TellFull() {
  is_full_ = true;
  sink_->Write(Stream::kStderr, "[further displays of this cell are not kept]\n");
}

void OutputLog::Clear() {
  clear_at_next_ = is_full_ = false;
  sink_ = std::make_unique<Sink>(storage_.writer, &storage_.artifacts, options_);
  displays_.clear();
  display_bytes_ = 0;
}

bool OutputLog::WantsPause() const {
  return sink_->WantsPause() ||
         std::any_of(displays_.begin(), displays_.end(),
                     [](const Display& shown) { return shown.large.WantsPause(); });
}

bool OutputLog::IsSettled() const {
  return sink_->IsSettled() &&
         std::all_of(displays_.begin(), displays_.end(),
                     [](const Display& shown) { return shown.large.IsSettled(); });
}

OutputLog::Outputs OutputLog::Take() {
  return Gather([](Display& shown) { return std::move(shown.output); });
}

OutputLog::Outputs OutputLog::SoFar() {
  return Gather([](Display& shown) { return shown.output; });
}

OutputLog::Outputs OutputLog::Gather(absl::FunctionRef<CellOutput(Display&)> take) {
  SinkOutput text = sink_->Output();
  Outputs gathered;
  for (OutputPiece& piece : text.pieces) {
    if (piece.kind == OutputPiece::Kind::kPlace) {
      Display& shown = displays_[piece.place];
      shown.large.PutInto(gathered.outputs.emplace_back(take(shown)));
    } else {
      CellOutput::Type type =
          piece.stream == Stream::kStdout ? CellOutput::Type::kStdout : CellOutput::Type::kStderr;
      gathered.outputs.push_back({.type = type, .text = std::move(piece.text)});
    }
  }
  gathered.truncation = std::move(text.truncation);
  return gathered;
}

}  // namespace cellar::host
