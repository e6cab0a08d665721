#include "host/console/call_printer.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "host/base/clock.h"
#include "host/base/fds.h"
#include "host/console/colours.h"
#include "host/console/json_tree.h"
#include "host/console/verdict.h"
#include "host/output/mime_text.h"
#include "host/output/printable.h"
#include "host/output/spoken_duration.h"
#include "host/output/spoken_size.h"
#include "host/session/large_data.h"

namespace cellar::host {
namespace {

// Cells that take less are not worth a word about it.
constexpr absl::Duration kWorthTelling = absl::Seconds(1);
constexpr absl::Duration kTick = absl::Milliseconds(100);

std::string TextOf(const std::vector<wire::MimeEntry>& bundle) {
  std::vector<MimeData> entries;
  entries.reserve(bundle.size());
  for (const wire::MimeEntry& entry : bundle) entries.push_back({entry.mime, entry.data});
  return TranscriptText(entries).value_or("");
}

bool IsSameFile(int a, int b) {
  struct stat first;
  struct stat second;
  return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

std::optional<std::string> SaveImage(const ArtifactStore& store, const wire::MimeEntry& image) {
  absl::StatusOr<NewArtifact> file = store.Create(ExtensionOf(image));
  if (!file.ok() || !WriteAll(file->fd.get(), image.data)) return std::nullopt;
  return file->path;
}

}  // namespace

CallPrinter::CallPrinter(std::function<void(int error)> on_output_lost, Options options)
    : out_{STDOUT_FILENO, IsTerminal(STDOUT_FILENO), WantsColour(STDOUT_FILENO)},
      err_{STDERR_FILENO, IsTerminal(STDERR_FILENO), WantsColour(STDERR_FILENO)},
      share_a_line_((out_.is_terminal && err_.is_terminal) || IsSameFile(out_.fd, err_.fd)),
      on_output_lost_(std::move(on_output_lost)),
      options_(std::move(options)),
      images_(out_.is_terminal ? ImageProtocolOf(CurrentEnvironment()) : ImageProtocol::kNone) {
  if (out_.is_terminal && MovesCursor(STDOUT_FILENO)) {
    pane_.emplace(
        STDOUT_FILENO,
        PaneOptions{.lines = options_.lines, .hint = options_.hint, .colour = out_.has_colour});
  }
  if (options_.foreground != nullptr) QueueOutput(*options_.foreground);
}

// Both in one where they go to the same place, so that they stay in order.
void CallPrinter::QueueOutput(Foreground& foreground) {
  if (!out_.is_terminal) {
    out_queue_.emplace(foreground, out_.fd,
                       OutputQueue::Events{.on_lost = [this](int error) { LoseOutput(error); },
                                           .on_room = options_.on_room});
    out_.queue = &*out_queue_;
  }
  if (err_.is_terminal) return;
  if (out_.queue != nullptr && share_a_line_) {
    err_.queue = out_.queue;
    return;
  }
  err_queue_.emplace(foreground, err_.fd, OutputQueue::Events{.on_room = options_.on_room});
  err_.queue = &*err_queue_;
}

bool CallPrinter::WantsPause() const {
  return (out_queue_ && out_queue_->WantsPause()) || (err_queue_ && err_queue_->WantsPause());
}

bool CallPrinter::IsWritten() const {
  return (!out_queue_ || out_queue_->empty()) && (!err_queue_ || err_queue_->empty());
}

CallPrinter::~CallPrinter() { StopTicking(); }

void CallPrinter::OnCellStarted(size_t index, const CallCell&) {
  started_ = MonotonicNow();
  tree_.BeginCell(index);
  ticks_ = 0;
  shows_all_ = status_is_paused_ = false;
  if (!pane_) return;
  EndLine();
  pane_->Begin();
  if (options_.loop != nullptr) {
    ticker_ = options_.loop->After(kWorthTelling, [this] { Tick(); });
  }
}

void CallPrinter::BeginAside() {
  shows_all_ = false;
  if (!pane_) return;
  EndLine();
  pane_->Begin(/*redraws=*/false);
}

void CallPrinter::Tick() {
  ++ticks_;
  if (!status_is_paused_) pane_->Draw(tree_.Rows(ticks_, MonotonicNow() - started_));
  ticker_ = options_.loop->After(kTick, [this] { Tick(); });
}

void CallPrinter::StopTicking() {
  if (ticker_ != 0) options_.loop->Cancel(std::exchange(ticker_, 0));
}

void CallPrinter::OnText(Stream stream, std::string_view text) {
  Print(stream == Stream::kStdout ? out_ : err_, text);
}

void CallPrinter::OnDisplay(const wire::Display& display) {
  if (display.kind == wire::DisplayKind::kClear) return;
  if (display.kind == wire::DisplayKind::kStatus) return OnStatus(display);
  PrintBundle(display.data, kFoldedDepth);
}

void CallPrinter::OnStatus(const wire::Display& display) {
  if (!pane_) return;
  for (const wire::MimeEntry& entry : display.data) {
    if (entry.mime != wire::kStatusMime) continue;
    const std::string said = tree_.OnEvent(entry.data);
    if (!said.empty()) PrintLine(err_, "· " + said, kDim);
  }
}

void CallPrinter::PrintBundle(const std::vector<wire::MimeEntry>& data, int json_depth) {
  std::string text = TextOf(data);
  for (const wire::MimeEntry& entry : data) {
    if (!pane_ || entry.mime != "application/json") continue;
    if (auto tree = JsonTree(entry.data, json_depth)) text = *std::move(tree);
  }
  if (!text.empty()) PrintText(text);
  for (const wire::MimeEntry& entry : data) {
    if (entry.mime.starts_with("image/")) PrintImage(entry);
  }
}

void CallPrinter::PrintText(std::string_view text) {
  if (!IsOnPane(out_)) return PrintLine(out_, text);
  if (!AtLineStart(out_)) Print(out_, "\n");
  while (text.ends_with('\n')) text.remove_suffix(1);
  Print(out_, std::string(text) + "\n");
}

void CallPrinter::PrintImage(const wire::MimeEntry& image) {
  std::string sequence = InlineImage(images_, image.mime, image.data, TerminalPixelWidth(out_.fd));
  if (!sequence.empty()) return PrintLine(out_, sequence);
  std::string line = "[" + Printable(image.mime) + ", " + SpokenSize(image.data.size());
  if (options_.images != nullptr) {
    if (auto path = SaveImage(*options_.images, image)) line += ": " + Printable(*path);
  }
  PrintLine(out_, line + "]", kDim);
}

void CallPrinter::OnCellFinished(size_t, const CellResult& result) {
  StopTicking();
  if (pane_) pane_->Hide();
  if (!result.clamp_note.empty()) Note(result.clamp_note);
  PrintResult(result);
}

void CallPrinter::PrintResult(const CellResult& result) {
  const CellOutcome& outcome = result.outcome;
  if (pane_) pane_->Hide();
  if (outcome.error) {
    std::string text = Printable(outcome.error->traceback);
    if (outcome.death) text += Printable(outcome.error->ename + ": " + outcome.error->evalue);
    PrintLine(err_, text, kRed);
  }
  for (const CellOutput& output : outcome.outputs) {
    for (const SavedData& data : output.saved) NoteSaved(data);
  }
  // Elsewhere all of it has been written.
  if (pane_ && outcome.truncation && !outcome.truncation->artifact_path.empty()) {
    Note("the output is in " + outcome.truncation->artifact_path);
  }
  for (const std::string& notice : outcome.notices) Note(notice);
  if (!outcome.state_detail.empty()) {
    PrintLine(err_, "cellar: " + Printable(outcome.state_detail), kYellow);
  }
  PrintVerdict(result);
}

// Where there is a pane there is a terminal: this is in nobody's file.
void CallPrinter::PrintVerdict(const CellResult& result) {
  if (!pane_) return;
  const std::string label = tree_.label();
  if (!label.empty()) {
    PrintLine(out_, label + ": " + VerdictOn(result), kDim);
  } else if (result.outcome.duration >= kWorthTelling && result.outcome.state_detail.empty()) {
    PrintLine(out_, "took " + SpokenDuration(result.outcome.duration), kDim);
  }
}

void CallPrinter::OnResize() {
  if (pane_) pane_->OnResize();
}

std::string CallPrinter::TakeLine() { return pane_ ? Printable(pane_->TakeLine()) : ""; }

void CallPrinter::Note(std::string_view text) {
  PrintLine(err_, "cellar: " + Printable(text), kDim);
}

void CallPrinter::NoteNotRun(const std::vector<CellRunStatus>& cells) {
  const auto not_run = static_cast<size_t>(std::ranges::count(cells, CellRunStatus::kNotRun));
  if (not_run == 0 || not_run == cells.size()) return;
  const CellRunStatus last = cells[cells.size() - not_run - 1];
  std::string note =
      "cell " + std::to_string(cells.size() - not_run) + " of " + std::to_string(cells.size());
  if (last == CellRunStatus::kError) {
    note += " failed; ";
  } else if (last == CellRunStatus::kCancelled) {
    note += " was interrupted; ";
  } else {  // the interrupt came, and it ended all the same
    note = "interrupted after " + note + "; ";
  }
  Note(note + std::to_string(not_run) + (not_run == 1 ? " was not run" : " were not run"));
}

void CallPrinter::NoteSaved(const SavedData& data) {
  const bool is_named = data.mime.starts_with("image/") && (out_.is_terminal || options_.images);
  if (data.artifact_path.empty() || is_named) return;
  Note(data.mime + ", " + SpokenSize(data.bytes) + ", is in " + data.artifact_path);
}

void CallPrinter::EndLine() {
  if (pane_) pane_->Hide();
  if (!AtLineStart(out_)) Print(out_, "\n");
}

void CallPrinter::Print(Side& side, std::string_view text) {
  if (text.empty()) return;
  SetAtLineStart(side, text.back() == '\n');
  const std::string shown = side.is_terminal ? side.filter.Filter(text) : std::string();
  if (!IsOnPane(side)) return Write(side, side.is_terminal ? shown : text);
  if (!pane_->Write(shown)) LoseOutput(errno);
}

void CallPrinter::Write(Side& side, std::string_view text) {
  if (side.queue != nullptr) return side.queue->Write(text);
  if (!WriteAll(side.fd, text) && side.fd == STDOUT_FILENO) LoseOutput(errno);
}

void CallPrinter::LoseOutput(int error) {
  if (on_output_lost_) std::exchange(on_output_lost_, nullptr)(error);
}

void CallPrinter::SetAtLineStart(Side& side, bool at_line_start) {
  side.at_line_start = at_line_start;
  if (share_a_line_) out_.at_line_start = err_.at_line_start = at_line_start;
}

bool CallPrinter::AtLineStart(const Side& side) const {
  return IsOnPane(side) ? pane_->line().empty() : side.at_line_start;
}

void CallPrinter::PrintLine(Side& side, std::string_view text, std::string_view colour) {
  if (pane_) pane_->Hide();
  std::string line;
  if (!AtLineStart(side)) line += '\n';
  if (IsOnPane(side)) pane_->DropLine();
  while (text.ends_with('\n')) text.remove_suffix(1);
  line += side.has_colour && !colour.empty() ? Coloured(text, colour) : std::string(text);
  line += '\n';
  SetAtLineStart(side, true);
  Write(side, line);
}

}  // namespace cellar::host
