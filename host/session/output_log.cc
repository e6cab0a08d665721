#include "host/session/output_log.h"

#include <utility>

namespace cellar::host {
namespace {

// What one cell may keep of displays; beyond, a note stands in their place.
constexpr size_t kMaxDisplays = 1000;
constexpr size_t kMaxDisplayBytes = 256u << 20;

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

size_t SizeOf(const std::vector<wire::MimeEntry>& data) {
  size_t size = 0;
  for (const wire::MimeEntry& entry : data) size += entry.mime.size() + entry.data.size();
  return size;
}

}  // namespace

OutputLog::OutputLog(const OutputStorage& storage, SinkOptions options)
    : storage_(storage),
      options_(std::move(options)),
      sink_(std::make_unique<Sink>(storage_.writer, storage_.artifacts, options_)) {}

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
  display_bytes_ += SizeOf(output.data);
  if (displays_.size() > kMaxDisplays) return;
  if (displays_.size() == kMaxDisplays || display_bytes_ > kMaxDisplayBytes) {
    sink_->Write(Stream::kStderr, "[further displays of this cell are not kept]\n");
    display_bytes_ = kMaxDisplayBytes + 1;
    displays_.resize(kMaxDisplays + 1);
    return;
  }
  sink_->Place(static_cast<uint32_t>(displays_.size()));
  displays_.push_back(std::move(output));
}

bool OutputLog::ReplaceShown(const wire::Display& display) {
  bool replaced = false;
  for (CellOutput& shown : displays_) {
    if (shown.display_id != display.display_id) continue;
    shown.data = display.data;
    shown.metadata = display.metadata;
    replaced = true;
  }
  return replaced;
}

void OutputLog::Clear() {
  clear_at_next_ = false;
  sink_ = std::make_unique<Sink>(storage_.writer, storage_.artifacts, options_);
  displays_.clear();
  display_bytes_ = 0;
}

OutputLog::Outputs OutputLog::Take() {
  return Gather([this](uint32_t place) { return std::move(displays_[place]); });
}

OutputLog::Outputs OutputLog::SoFar() const {
  return Gather([this](uint32_t place) { return displays_[place]; });
}

OutputLog::Outputs OutputLog::Gather(absl::FunctionRef<CellOutput(uint32_t place)> display) const {
  SinkOutput text = sink_->Output();
  Outputs gathered;
  for (OutputPiece& piece : text.pieces) {
    if (piece.kind == OutputPiece::Kind::kPlace) {
      gathered.outputs.push_back(display(piece.place));
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
