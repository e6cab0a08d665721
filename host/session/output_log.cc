#include "host/session/output_log.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/session/clear_display.h"
#include "host/wire/frame.h"

namespace cellar::host {
namespace {

// What one cell may keep of displays; beyond, a note stands in their place. Events of helpers and
// results count apart: a loop that reads a thousand files has room for what it shows.
constexpr size_t kMaxOfType = 1000;
constexpr uint64_t kMaxNameBytes = 4u << 20;  // of ids, types and metadata
// On its way into files: one display always has room, as a frame is smaller.
constexpr uint64_t kMaxWaitingBytes = 128u << 20;
static_assert(kMaxWaitingBytes > wire::kMaxFramePayload);
constexpr size_t kMaxFiles = 1000;
constexpr size_t kMaxTypes = 100;  // of one display

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

uint64_t NameBytes(const CellOutput& output) {
  uint64_t size = output.metadata.size() + output.display_id.size();
  for (const wire::MimeEntry& entry : output.data) size += entry.mime.size();
  return size;
}

// Stands for the events that are not kept.
CellOutput LeftOut(uint64_t events) {
  return {.type = CellOutput::Type::kStatus,
          .data = {{.mime = wire::kStatusMime,
                    .kind = wire::MimeKind::kJson,
                    .data = absl::StrCat("{\"op\": \"left_out\", \"events\": ", events, "}")}}};
}

}  // namespace

OutputLog::OutputLog(const OutputStorage& storage, SinkOptions options, uint64_t result_room)
    : storage_(storage),
      options_(std::move(options)),
      result_room_(result_room),
      sink_(std::make_unique<Sink>(storage_.writer, &storage_.artifacts, options_)) {}

void OutputLog::AddText(Stream stream, std::string_view bytes) {
  if (clear_at_next_) Clear();
  empty_ = false;
  sink_->Write(stream, bytes);
}

void OutputLog::AddDisplay(wire::Display display) {
  if (display.kind == wire::DisplayKind::kClear) {
    clear_at_next_ = ClearsWithNext(display);
    if (!clear_at_next_) Clear();
    return;
  }
  const bool is_event = display.kind == wire::DisplayKind::kStatus;
  if (clear_at_next_ && !is_event) Clear();
  if (display.data.size() > kMaxTypes) {
    AddText(Stream::kStderr, absl::StrCat("[of the ", display.data.size(), " types of a display ",
                                          kMaxTypes, " are kept]\n"));
    display.data.resize(kMaxTypes);
  }
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
  if (is_full_ && output.type == CellOutput::Type::kDisplay) return;
  size_t& count = counts_[output.type];
  if (count == kMaxOfType || !HasRoomFor(output, /*shows=*/1, totals_)) {
    if (output.type != CellOutput::Type::kStatus) return TellFull();
    ++events_left_out_;
    return;
  }
  ++count;
  const auto place = static_cast<uint32_t>(displays_.size());
  sink_->Place(place);
  if (!output.display_id.empty()) places_[output.display_id].push_back(place);
  Fill(displays_.emplace_back(Display{.output = std::move(output), .source = place}));
}

bool OutputLog::ReplaceShown(wire::Display& display) {
  const auto found = places_.find(display.display_id);
  if (found == places_.end()) return false;
  const std::vector<uint32_t>& places = found->second;
  Display& first = displays_[places.front()];
  CellOutput output = {.type = first.output.type,
                       .data = std::move(display.data),
                       .metadata = std::move(display.metadata),
                       .display_id = first.output.display_id,
                       .update = first.output.update};
  Totals others = totals_;
  for (uint32_t place : places) {
    const Display& shown = displays_[place];
    others.bytes -= shown.totals.bytes;
    others.inline_bytes -= shown.totals.inline_bytes * shown.shows;
    others.name_bytes -= shown.totals.name_bytes * shown.shows;
  }
  if (!HasRoomFor(output, places.size(), others)) {
    TellFull();
    return true;
  }
  totals_ = others;
  for (uint32_t place : places) {
    Display& shown = displays_[place];
    if (shown.shows == 0) continue;  // its data is that of the first already
    shown.output.data.clear();
    shown.output.metadata.clear();
    shown.large = LargeData();
    shown.totals = {};
    shown.source = places.front();
    shown.shows = 0;
  }
  first.output = std::move(output);
  first.shows = places.size();
  Fill(first);
  return true;
}

bool OutputLog::HasRoomFor(const CellOutput& output, size_t shows, const Totals& others) const {
  const uint64_t bytes = DataBytes(output);
  // An event of a helper is worth no file.
  const uint64_t least = output.type == CellOutput::Type::kStatus ? bytes : 0;
  return least <= (result_room_ - others.inline_bytes) / shows &&
         NameBytes(output) <= (kMaxNameBytes - others.name_bytes) / shows &&
         others.bytes + bytes <= options_.max_artifact_bytes;
}

// Leaves in its output what the result has room for, and begins to write the rest.
void OutputLog::Fill(Display& shown) {
  shown.totals = {.bytes = DataBytes(shown.output), .name_bytes = NameBytes(shown.output)};
  uint64_t room = result_room_ - totals_.inline_bytes;
  const uint64_t room_for_each = room / shown.shows;
  uint64_t waiting = 0;
  size_t files = 0;
  for (Display& other : displays_) {
    waiting += other.large.Release(room);
    files += other.large.file_count();
  }
  shown.large = LargeData(storage_, options_,
                          {.inline_bytes = room_for_each,
                           .waiting_bytes = kMaxWaitingBytes - std::min(kMaxWaitingBytes, waiting),
                           .files = kMaxFiles - std::min(kMaxFiles, files)},
                          shown.output.data);
  shown.totals.inline_bytes = DataBytes(shown.output);
  totals_.bytes += shown.totals.bytes;
  totals_.inline_bytes += shown.totals.inline_bytes * shown.shows;
  totals_.name_bytes += shown.totals.name_bytes * shown.shows;
}

void OutputLog::TellFull() {
  if (std::exchange(is_full_, true)) return;
  sink_->Write(Stream::kStderr, "[further displays of this cell are not kept]\n");
}

void OutputLog::Clear() {
  clear_at_next_ = is_full_ = false;
  sink_ = std::make_unique<Sink>(storage_.writer, &storage_.artifacts, options_);
  displays_.clear();
  places_.clear();
  counts_.clear();
  events_left_out_ = 0;
  totals_ = {};
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
  return Gather([](Display& shown) -> CellOutput {
    if (shown.shows > 1) return shown.output;
    return std::move(shown.output);
  });
}

OutputLog::Outputs OutputLog::SoFar() {
  return Gather([](Display& shown) { return shown.output; });
}

OutputLog::Outputs OutputLog::Gather(absl::FunctionRef<CellOutput(Display&)> take) {
  SinkOutput text = sink_->Output();
  Outputs gathered;
  uint64_t room = result_room_ - totals_.inline_bytes;
  for (OutputPiece& piece : text.pieces) {
    if (piece.kind == OutputPiece::Kind::kPlace) {
      Display& shown = displays_[piece.place];
      Display& source = displays_[shown.source];
      CellOutput& output = gathered.outputs.emplace_back(take(shown));
      if (&source != &shown) {
        output.data = source.output.data;
        output.metadata = source.output.metadata;
      }
      source.large.PutInto(output, room);
    } else {
      CellOutput::Type type =
          piece.stream == Stream::kStdout ? CellOutput::Type::kStdout : CellOutput::Type::kStderr;
      gathered.outputs.push_back({.type = type, .text = std::move(piece.text)});
    }
  }
  if (events_left_out_ > 0) gathered.outputs.push_back(LeftOut(events_left_out_));
  gathered.truncation = std::move(text.truncation);
  return gathered;
}

}  // namespace cellar::host
