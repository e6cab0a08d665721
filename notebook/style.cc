#include "notebook/style.h"

#include <algorithm>
#include <optional>

#include "notebook/json_scanner.h"

namespace cellar::notebook {
namespace {

// A style shows early; looking at all of a huge file would cost as much as scanning it.
constexpr size_t kSampledBytes = size_t{4} << 20;
constexpr size_t kSampledCells = 200;

// The whitespace of the object at the top, from which all deeper whitespace follows in a regular
// file.
struct Indent {
  std::string newline = "\n";  // empty: the file is one line
  std::string unit = " ";
  std::string comma = ",";  // with what follows it on its line
  std::string colon = ": ";

  Gaps At(int depth) const {
    if (newline.empty()) return {"", comma, ""};
    std::string outer = newline;
    for (int i = 0; i < depth; ++i) outer += unit;
    return {outer + unit, comma + outer + unit, outer};
  }
};

// The comma of a gap, with what follows it on its line; alone where it begins a line.
std::string_view CommaOf(std::string_view gap) {
  const std::string_view line = gap.substr(0, gap.find_first_of("\r\n"));
  return line.find(',') != std::string_view::npos ? line : ",";
}

// Where the value that begins at `begin` ends. That of the cells is known, and scanning them again
// would cost as much as reading the file did.
size_t EndOfValue(const Document& document, JsonScanner* scanner, size_t begin) {
  for (const CellList& list : document.lists()) {
    if (list.span.begin == begin) return list.span.end;
  }
  Span value;
  scanner->SkipValue(&value);
  return value.end;
}

Indent DetectIndent(const Document& document) {
  const std::string_view bytes = document.bytes();
  Indent indent;
  const size_t top = bytes.find('{');
  JsonScanner scanner(bytes, top);
  Span key;
  scanner.EnterObject();
  scanner.NextMember(&key);
  scanner.Peek();
  const size_t value = scanner.offset();
  const std::string_view open = bytes.substr(top + 1, key.begin - top - 1);
  const size_t newline = open.find_first_of("\r\n");
  if (newline == std::string_view::npos) {
    indent.newline.clear();
  } else {
    indent.newline = open.substr(newline, 2) == "\r\n" ? "\r\n" : open.substr(newline, 1);
    indent.unit = open.substr(open.find_last_of("\r\n") + 1);
  }
  indent.colon = bytes.substr(key.end, value - key.end);
  const std::string_view rest = bytes.substr(EndOfValue(document, &scanner, value));
  const std::string_view gap = rest.substr(0, rest.find_first_of("\"}"));
  if (gap.find(',') != std::string_view::npos) indent.comma = CommaOf(gap);
  return indent;
}

// Gaps as sampled, completed from `indent` where the container has a single item and hence no
// comma.
Gaps SampledGaps(std::string_view bytes, Span container, std::span<const Span> items,
                 const Indent& indent) {
  if (items.size() > 1) return GapsOf(bytes, container, items);
  const Span open{container.begin + 1, items[0].begin};
  const Span close{items[0].end, container.end - 1};
  Gaps gaps{std::string(Slice(bytes, open)), "", std::string(Slice(bytes, close))};
  gaps.between = indent.comma + gaps.open;
  return gaps;
}

// One level deeper than a container whose items stand at `outer.open`.
Gaps Deeper(const Gaps& outer, const Indent& indent) {
  if (indent.newline.empty()) return outer;
  const std::string open = outer.open + indent.unit;
  return {open, indent.comma + open, outer.open};
}

std::vector<Span> WholeMembers(const std::vector<Member>& members) {
  std::vector<Span> spans;
  for (const Member& member : members) spans.push_back({member.key.begin, member.value.end});
  return spans;
}

bool IsEmptyContainer(std::string_view value) {
  return (value[0] == '[' || value[0] == '{') &&
         value.find_first_not_of(" \t\r\n", 1) == value.size() - 1;
}

// Looks at the cells, one by one, until everything has been seen.
class CellSamples {
 public:
  CellSamples(const Document& document, const Indent& indent)
      : document_(document), bytes_(document.bytes()), indent_(indent) {}

  void Look(size_t cell, Style* style) {
    LookAtSource(document_.source_span(cell));
    auto& keys = document_.type(cell) == CellType::kCode ? style->code_keys : style->text_keys;
    if (!keys.empty() && members_ && loose_empty_) return;
    const std::vector<Member> members = Members(bytes_, document_.span(cell));
    if (keys.empty()) {
      for (const Member& member : members) keys.push_back(Decoded(Slice(bytes_, member.key)));
    }
    if (!members_) {
      members_ = SampledGaps(bytes_, document_.span(cell), WholeMembers(members), indent_);
    }
    for (const Member& member : members) {
      const std::string_view value = Slice(bytes_, member.value);
      if (!loose_empty_ && IsEmptyContainer(value)) loose_empty_ = value.size() > 2;
    }
  }

  void Finish(Style* style) {
    style->members = members_.value_or(Deeper(style->cells, indent_));
    style->lines = lines_.value_or(Deeper(style->members, indent_));
    style->string_sources = strings_ > 0 && lists_ == 0;
    const std::string inside = loose_empty_.value_or(false) ? style->members.open : "";
    style->empty_list = "[" + inside + "]";
    style->empty_object = "{" + inside + "}";
  }

 private:
  void LookAtSource(Span source) {
    if (source.empty()) return;
    if (bytes_[source.begin] == '"') {
      ++strings_;
      return;
    }
    ++lists_;
    const bool is_better = !lines_ || lines_of_one_;
    if (!is_better) return;
    const std::vector<Span> items = Items(bytes_, source);
    if (items.empty() || (lines_ && items.size() == 1)) return;
    lines_ = SampledGaps(bytes_, source, items, indent_);
    lines_of_one_ = items.size() == 1;
  }

  const Document& document_;
  std::string_view bytes_;
  const Indent& indent_;
  std::optional<Gaps> members_;
  std::optional<Gaps> lines_;
  bool lines_of_one_ = false;
  std::optional<bool> loose_empty_;
  int strings_ = 0;
  int lists_ = 0;
};

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
}

Escapes DetectEscapes(std::string_view bytes) {
  Escapes escapes;
  bool hex_seen = false;
  size_t pos = 0;
  while ((pos = bytes.find('\\', pos)) != std::string_view::npos && pos + 6 <= bytes.size()) {
    if (bytes[pos + 1] != 'u') {
      pos += 2;
      continue;
    }
    const std::string_view digits = bytes.substr(pos + 2, 4);
    if (digits.substr(0, 2) != "00" || digits[2] >= '8') escapes.ascii = true;
    if (digits == "003c" || digits == "003C" || digits == "003e" || digits == "003E") {
      escapes.html = true;
    }
    if (const size_t letter = digits.find_first_of("abcdefABCDEF");
        letter != std::string_view::npos && !hex_seen) {
      hex_seen = true;
      escapes.upper_hex = digits[letter] < 'a';
    }
    pos += 6;
  }
  escapes.ascii = escapes.ascii && IsAscii(bytes);
  return escapes;
}

}  // namespace

Style DetectStyle(const Document& document) {
  const std::string& bytes = document.bytes();
  const Indent indent = DetectIndent(document);
  Style style;
  style.colon = indent.colon;
  if (!indent.newline.empty()) style.unit = indent.unit;
  style.escapes = DetectEscapes(std::string_view(bytes).substr(0, kSampledBytes));
  style.cells = indent.At(document.layout() == Layout::kFlat ? 1 : 3);
  for (const CellList& list : document.lists()) {
    if (list.count == 0) continue;
    const std::span<const Span> cells(document.cell_spans());
    style.cells = SampledGaps(bytes, list.span, cells.subspan(list.first, list.count), indent);
    break;
  }
  CellSamples samples(document, indent);
  const size_t sampled = std::min(document.cell_count(), kSampledCells);
  for (size_t cell = 0; cell < sampled; ++cell) samples.Look(cell, &style);
  samples.Finish(&style);
  return style;
}

Gaps GapsInCell(const Style& style, int level) {
  const std::string comma(CommaOf(style.members.between));
  std::string outer = style.members.open;
  for (int i = 0; i < level; ++i) outer += style.unit;
  const std::string inner = outer + style.unit;
  return {inner, comma + inner, outer};
}

Gaps GapsOf(std::string_view bytes, Span container, std::span<const Span> items) {
  const Span open{container.begin + 1, items[0].begin};
  const Span between{items[0].end, items[1].begin};
  const Span close{items.back().end, container.end - 1};
  return {std::string(Slice(bytes, open)), std::string(Slice(bytes, between)),
          std::string(Slice(bytes, close))};
}

}  // namespace cellar::notebook
