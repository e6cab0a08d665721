#include "notebook/marker.h"

#include <algorithm>
#include <charconv>

namespace cellar::notebook {
namespace {

constexpr std::string_view kStart = "# %%";
constexpr std::string_view kOutputs = "outputs";
constexpr std::string_view kBlanks = " \t\r";

bool Consume(std::string_view* rest, std::string_view prefix) {
  if (rest->substr(0, prefix.size()) != prefix) return false;
  rest->remove_prefix(prefix.size());
  return true;
}

size_t ConsumeBlanks(std::string_view* rest) {
  const size_t blanks = std::min(rest->find_first_not_of(kBlanks), rest->size());
  rest->remove_prefix(blanks);
  return blanks;
}

bool ConsumeType(std::string_view* rest, Marker* marker) {
  for (CellType type : {CellType::kCode, CellType::kMarkdown, CellType::kRaw}) {
    if (Consume(rest, CellTypeName(type))) {
      marker->type = type;
      return true;
    }
  }
  return Consume(rest, kOutputs);
}

std::string MarkerOf(std::string_view word, std::optional<size_t> number) {
  std::string marker = std::string(kStart) + " [" + std::string(word) + "]";
  if (number) marker += " cell:" + std::to_string(*number);
  return marker;
}

// Calls `change` with each line that looks like a marker and the position of its first `%`, and
// appends what it leaves, together with all other lines, to `out`.
template <typename Change>
void ForEachMarkerLine(std::string_view text, std::string* out, Change change) {
  size_t copied = 0;
  size_t line = 0;
  while (line != std::string_view::npos && line < text.size()) {
    const size_t end = std::min(text.find('\n', line), text.size());
    if (text.substr(line, kStart.size()) == kStart) {
      if (std::optional<Marker> marker = ParseMarker(text.substr(line, end - line))) {
        const size_t percent = line + 2;
        out->append(text.substr(copied, percent - copied));
        copied = percent;
        change(*marker, &copied);
      }
    }
    line = end + 1;
  }
  out->append(text.substr(copied));
}

}  // namespace

std::optional<Marker> ParseMarker(std::string_view line) {
  if (!Consume(&line, kStart)) return std::nullopt;
  Marker marker{.percents = 2};
  while (Consume(&line, "%")) ++marker.percents;
  if (!Consume(&line, " [") || !ConsumeType(&line, &marker) || !Consume(&line, "]")) {
    return std::nullopt;
  }
  if (ConsumeBlanks(&line) > 0 && Consume(&line, "cell:")) {
    uint32_t origin = 0;
    const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), origin);
    if (stop == line.data()) return std::nullopt;
    if (error == std::errc()) marker.origin = origin;
    line.remove_prefix(stop - line.data());
    ConsumeBlanks(&line);
  }
  if (!line.empty()) return std::nullopt;
  return marker;
}

bool IsNearMarker(std::string_view line) {
  if (ParseMarker(line)) return false;
  ConsumeBlanks(&line);
  if (!Consume(&line, "#")) return false;
  ConsumeBlanks(&line);
  return Consume(&line, "%%") && (line.empty() || line[0] == '[' || ConsumeBlanks(&line) > 0);
}

std::string CellMarker(CellType type, std::optional<size_t> number) {
  return MarkerOf(CellTypeName(type), number);
}

std::string OutputsMarker(std::optional<size_t> number) { return MarkerOf(kOutputs, number); }

void AppendEscaped(std::string_view source, std::string* out) {
  ForEachMarkerLine(source, out, [out](const Marker&, size_t*) { *out += '%'; });
}

std::string Unescaped(std::string_view body) {
  std::string source;
  ForEachMarkerLine(body, &source, [](const Marker& marker, size_t* copied) {
    if (marker.percents > 2) ++*copied;
  });
  return source;
}

}  // namespace cellar::notebook
