#include "host/output/sink.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "host/base/free_text.h"
#include "host/output/spoken_size.h"

namespace cellar::host {
namespace {

using Item = OutputWindow::Item;

// The most that is sanitised in one go, so that the scratch text stays small.
constexpr size_t kBlockBytes = 64 * 1024;

OutputWindowLimits WindowLimits(const SinkOptions& options) {
  const size_t head = std::min(options.head_bytes, options.budget_bytes);
  return {.head_bytes = head, .tail_bytes = options.budget_bytes - head};
}

std::string Count(uint64_t number, std::string_view noun) {
  std::string text = std::to_string(number);
  text += ' ';
  text += noun;
  if (number != 1) text += 's';
  return text;
}

std::string GapMark(const Truncation& truncation) {
  return "[" + Count(truncation.omitted_lines, "line") + ", " +
         Count(truncation.omitted_bytes, "byte") + " left out; " + Whereabouts(truncation) + "]\n";
}

std::string CutMark(uint64_t bytes, const Truncation& truncation) {
  std::string mark = "…[" + Count(bytes, "more byte");
  if (!truncation.artifact_id.empty()) mark += " in artifact://" + truncation.artifact_id;
  return mark + "]";
}

void AddText(Stream stream, std::string text, std::vector<OutputPiece>* pieces) {
  if (!pieces->empty() && pieces->back().kind == OutputPiece::Kind::kText &&
      pieces->back().stream == stream) {
    pieces->back().text += text;
  } else {
    pieces->push_back(
        {.kind = OutputPiece::Kind::kText, .stream = stream, .text = std::move(text)});
  }
}

void AddMark(const Truncation& truncation, std::vector<OutputPiece>* pieces) {
  OutputPiece mark{.kind = OutputPiece::Kind::kMark, .text = GapMark(truncation)};
  if (!pieces->empty()) {
    mark.stream = pieces->back().stream;
    const std::string& before = pieces->back().text;
    if (!before.empty() && before.back() != '\n') mark.text.insert(0, 1, '\n');
  }
  pieces->push_back(std::move(mark));
}

}  // namespace

std::string Whereabouts(const Truncation& truncation) {
  const std::string why = truncation.error.empty() ? "" : ": " + truncation.error;
  if (truncation.artifact_id.empty()) return "the whole was not saved" + why;
  const std::string where =
      "artifact://" + truncation.artifact_id + " (" + truncation.artifact_path + ")";
  if (truncation.missing_bytes == 0) return "the whole is in " + where;
  return "the first " + SpokenSize(truncation.artifact_bytes) + " are in " + where + ", " +
         SpokenSize(truncation.missing_bytes) + " are missing" + why;
}

Sink::Sink(SpillWriter* writer, const ArtifactStore* store, SinkOptions options)
    : writer_(writer),
      store_(store),
      options_(std::move(options)),
      clamp_(options_.max_line_characters),
      window_(WindowLimits(options_)) {}

void Sink::Write(Stream stream, std::string_view bytes) {
  assert(!is_closed_);
  if (bytes.empty()) return;
  SwitchTo(stream);
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kBlockBytes, bytes.size()))) {
    WriteBlock(stream, bytes.substr(0, kBlockBytes));
  }
}

void Sink::WriteBlock(Stream stream, std::string_view bytes) {
  total_bytes_ += bytes.size();
  if (spill_) {
    spill_->Append(bytes);
  } else {
    raw_ += bytes;
  }
  text_.clear();
  sanitisers_[Index(stream)].Write(bytes, &text_);
  clamp_.Append(stream, text_, &window_);
  SpillIfNeeded();
}

void Sink::SwitchTo(Stream stream) {
  if (stream == current_) return;
  EndLine();
  current_ = stream;
}

void Sink::EndLine() {
  text_.clear();
  sanitisers_[Index(current_)].Flush(&text_);
  clamp_.Append(current_, text_, &window_);
  clamp_.EndLine(current_, &window_);
}

void Sink::Place(uint32_t place) {
  assert(!is_closed_);
  EndLine();
  window_.AppendPlace(place);
}

void Sink::Close() {
  if (is_closed_) return;
  is_closed_ = true;
  FinishStream(current_);
  FinishStream(current_ == Stream::kStdout ? Stream::kStderr : Stream::kStdout);
  SpillIfNeeded();
  if (!spill_) return;
  if (LeavesOut()) {
    spill_->Close();
  } else {
    spill_->Discard();
  }
}

void Sink::FinishStream(Stream stream) {
  text_.clear();
  sanitisers_[Index(stream)].Finish(&text_);
  clamp_.Append(stream, text_, &window_);
  clamp_.EndLine(stream, &window_);
}

// A progress line can be far longer than the text that remains of it; the spill then starts before
// it is known whether the text leaves anything out.
void Sink::SpillIfNeeded() {
  if (spill_ || (raw_.size() <= options_.budget_bytes && !LeavesOut())) return;
  spill_.emplace(writer_, *store_,
                 Spill::Options{.max_bytes = options_.max_artifact_bytes,
                                .on_progress = options_.on_progress});
  spill_->Append(raw_);
  FreeText(raw_);
}

bool Sink::WantsPause() const { return spill_ && spill_->WantsPause(); }

bool Sink::IsSettled() const { return is_closed_ && (!spill_ || spill_->IsSettled()); }

SinkOutput Sink::Output() const {
  OutputWindow window = window_;
  LineClamp clamp = clamp_;
  clamp.Append(current_, sanitisers_[Index(current_)].pending_line(), &window);
  clamp.EndLine(current_, &window);

  const std::vector<Item> items = window.Items();
  SinkOutput output;
  if (window.HasGap() || clamp.has_cut()) {
    output.truncation = CountTruncation(items);
    output.truncation->total_lines = window.total_lines();
    output.truncation->text_bytes = window.total_bytes();
  }
  for (const Item& item : items) {
    switch (item.kind) {
      case Item::Kind::kText:
        AddText(item.stream, item.text, &output.pieces);
        break;
      case Item::Kind::kCut:
        AddText(item.stream, CutMark(item.bytes, *output.truncation), &output.pieces);
        break;
      case Item::Kind::kPlace:
        output.pieces.push_back({.kind = OutputPiece::Kind::kPlace, .place = item.place});
        break;
      case Item::Kind::kGap:
        AddMark(*output.truncation, &output.pieces);
        break;
    }
  }
  return output;
}

Truncation Sink::CountTruncation(const std::vector<Item>& items) const {
  Truncation truncation{.total_bytes = total_bytes_};
  for (const Item& item : items) {
    if (item.kind == Item::Kind::kText) {
      truncation.kept_bytes += item.bytes;
    } else if (item.kind == Item::Kind::kCut) {
      ++truncation.clamped_lines;
      truncation.clamped_bytes += item.bytes;
    } else if (item.kind == Item::Kind::kGap) {
      truncation.omitted_lines = item.lines;
      truncation.omitted_bytes = item.bytes;
    }
  }
  truncation.missing_bytes = total_bytes_;
  truncation.error = "not yet written";
  if (spill_) {
    SpillFacts facts = spill_->Facts();
    truncation.artifact_id = std::move(facts.id);
    truncation.artifact_path = std::move(facts.path);
    truncation.artifact_bytes = facts.written_bytes;
    truncation.missing_bytes = facts.missing_bytes;
    truncation.error = std::move(facts.error);
  }
  return truncation;
}

}  // namespace cellar::host
