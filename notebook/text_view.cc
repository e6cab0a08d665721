#include "notebook/text_view.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include "host/base/status.h"
#include "notebook/marker.h"
#include "notebook/output_view.h"

namespace cellar::notebook {
namespace {

constexpr std::string_view kNoMarker =
    "the first line must be a marker: # %% [code], # %% [markdown] or # %% [raw], each with cell:N "
    "behind it or without";

bool ReadNumber(std::string_view* rest, size_t* number) {
  const auto [stop, error] = std::from_chars(rest->data(), rest->data() + rest->size(), *number);
  if (error != std::errc()) return false;
  rest->remove_prefix(stop - rest->data());
  return true;
}

bool ReadLineRange(std::string_view text, LineRange* range) {
  if (!ReadNumber(&text, &range->first) || range->first == 0) return false;
  range->last = range->first;
  if (text.empty()) return true;
  if (text[0] != '-') return false;
  text.remove_prefix(1);
  if (text.empty()) {
    range->last = SIZE_MAX;
    return true;
  }
  return ReadNumber(&text, &range->last) && text.empty() && range->last >= range->first;
}

std::vector<size_t> LineStarts(std::string_view text) {
  std::vector<size_t> starts;
  for (size_t pos = 0; pos < text.size();) {
    starts.push_back(pos);
    const size_t newline = text.find('\n', pos);
    pos = newline == std::string_view::npos ? text.size() : newline + 1;
  }
  return starts;
}

}  // namespace

std::string RenderText(const Document& document, const TextViewOptions& options) {
  std::string text;
  text.reserve(document.bytes().size() / 2);
  for (size_t cell = 0; cell < document.cell_count(); ++cell) {
    const std::optional<size_t> number = options.numbers ? std::optional(cell) : std::nullopt;
    text += CellMarker(document.type(cell), number);
    text += '\n';
    if (const std::string source = document.Source(cell); !source.empty()) {
      AppendEscaped(source, &text);
      text += '\n';
    }
    if (!options.outputs) continue;
    if (const std::string outputs = OutputsText(document, cell); !outputs.empty()) {
      text += OutputsMarker(number) + "\n" + outputs;
    }
  }
  return text;
}

absl::StatusOr<EditedText> EditedText::Parse(std::string text) {
  EditedText edited;
  edited.had_crlf_ = std::string_view(text).substr(0, text.find('\n')).ends_with('\r');
  edited.text_ = edited.had_crlf_ ? WithoutCarriageReturns(text) : std::move(text);
  const std::string_view all = edited.text_;
  if (all.size() > kMaxNotebookBytes) {
    return absl::ResourceExhaustedError("the text is longer than " +
                                        std::to_string(kMaxNotebookBytes) + " bytes");
  }
  bool in_cell = false;
  for (size_t line = 0; line < all.size();) {
    const size_t end = std::min(all.find('\n', line), all.size());
    const std::optional<Marker> marker = ParseMarker(all.substr(line, end - line));
    const auto next_line = static_cast<uint32_t>(std::min(end + 1, all.size()));
    if (marker && marker->percents == 2) {
      in_cell = marker->type.has_value();
      if (in_cell) {
        edited.cells_.push_back({.body = {next_line, next_line},
                                 .origin = marker->origin.value_or(TextCell::kNoOrigin),
                                 .type = *marker->type});
      }
    } else if (in_cell) {
      edited.cells_.back().body.end = next_line;
    }
    if (edited.cells_.empty()) {
      return absl::InvalidArgumentError("line 1: " + std::string(kNoMarker));
    }
    line = end + 1;
  }
  return edited;
}

std::string EditedText::Source(const TextCell& cell) const {
  std::string_view body = Slice(text_, cell.body);
  if (body.ends_with('\n')) body.remove_suffix(1);
  return Unescaped(body);
}

absl::StatusOr<std::vector<LineRange>> ParseLineRanges(std::string_view ranges) {
  std::vector<LineRange> parsed;
  std::string_view rest = ranges;
  while (true) {
    const size_t comma = rest.find(',');
    LineRange range;
    if (!ReadLineRange(rest.substr(0, comma), &range)) {
      return absl::InvalidArgumentError(
          "bad line range " + std::string(ranges) +
          ": expected A, A-B or A- counted from 1, with commas between");
    }
    parsed.push_back(range);
    if (comma == std::string_view::npos) return parsed;
    rest.remove_prefix(comma + 1);
  }
}

absl::StatusOr<std::string> SelectLines(std::string_view text,
                                        const std::vector<LineRange>& ranges) {
  std::vector<size_t> starts = LineStarts(text);
  const size_t count = starts.size();
  starts.push_back(text.size());
  std::string selected;
  for (const LineRange& range : ranges) {
    if (range.first > count) {
      return absl::OutOfRangeError("line " + std::to_string(range.first) +
                                   " is past the end: there are " + std::to_string(count) +
                                   " lines");
    }
    const size_t begin = starts[range.first - 1];
    selected += text.substr(begin, starts[std::min(range.last, count)] - begin);
  }
  return selected;
}

std::string WithoutCarriageReturns(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r' || text.substr(i + 1, 1) != "\n") result += text[i];
  }
  return result;
}

}  // namespace cellar::notebook
