#include "notebook/source_value.h"

#include <vector>

#include "notebook/document.h"
#include "notebook/json_scanner.h"
#include "notebook/json_string.h"
#include "notebook/list_rewriter.h"

namespace cellar::notebook {
namespace {

// Cuts the first line, with its newline, off `rest`.
std::string_view TakeLine(std::string_view* rest) {
  const size_t newline = rest->find('\n');
  const std::string_view line =
      rest->substr(0, newline == std::string_view::npos ? newline : newline + 1);
  rest->remove_prefix(line.size());
  return line;
}

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// How many old pieces begin and end the new source, each as whole lines of it. `middle` is the text
// between.
struct KeptPieces {
  size_t front = 0;
  size_t back = 0;
  std::string_view middle;
};

KeptPieces FindKept(const std::vector<std::string>& pieces, std::string_view source) {
  KeptPieces kept{.middle = source};
  while (kept.front < pieces.size()) {
    const std::string& piece = pieces[kept.front];
    const bool is_line = !piece.empty() && piece.back() == '\n';
    if (!is_line || kept.middle.substr(0, piece.size()) != piece) break;
    kept.middle.remove_prefix(piece.size());
    ++kept.front;
  }
  while (kept.front + kept.back < pieces.size()) {
    const std::string& piece = pieces[pieces.size() - 1 - kept.back];
    if (piece.empty() || !EndsWith(kept.middle, piece)) break;
    const std::string_view before = kept.middle.substr(0, kept.middle.size() - piece.size());
    if (!before.empty() && before.back() != '\n') break;
    kept.middle = before;
    ++kept.back;
  }
  return kept;
}

std::string ChangedList(std::string_view bytes, Span old, std::string_view source,
                        const Style& style) {
  const std::vector<Span> items = Items(bytes, old);
  std::vector<std::string> pieces;
  for (Span item : items) pieces.push_back(Decoded(Slice(bytes, item)));
  KeptPieces kept = FindKept(pieces, source);
  std::string out;
  ListRewriter list(bytes, old, items, style.lines, &out);
  for (size_t i = 0; i < kept.front; ++i) list.Keep(i);
  for (size_t i = kept.front; !kept.middle.empty(); ++i) {
    const std::string line = Quoted(TakeLine(&kept.middle), style.escapes);
    // In the place of an old line, so that the whitespace around it is that of the old line.
    if (i < items.size() - kept.back) {
      list.Replace(i, line);
    } else {
      list.Add(line);
    }
  }
  for (size_t i = items.size() - kept.back; i < items.size(); ++i) list.Keep(i);
  list.Finish();
  return out;
}

}  // namespace

std::string NewSource(std::string_view source, const Style& style) {
  if (style.string_sources) return Quoted(source, style.escapes);
  if (source.empty()) return style.empty_list;
  std::string text = "[" + style.lines.open;
  while (!source.empty()) {
    AppendQuoted(TakeLine(&source), style.escapes, &text);
    if (!source.empty()) text += style.lines.between;
  }
  return text + style.lines.close + "]";
}

std::string ChangedSource(std::string_view bytes, Span old, std::string_view source, Layout layout,
                          const Style& style) {
  if (old.empty()) return NewSource(source, style);
  if (bytes[old.begin] == '"') return Quoted(source, style.escapes);
  if (source.empty()) return style.empty_list;
  std::string changed = ChangedList(bytes, old, source, style);
  // The lines kept may be old ones without newlines, which the new ones no longer match.
  const Span whole{0, static_cast<uint32_t>(changed.size())};
  if (JoinedSource(changed, whole, layout) != source) return NewSource(source, style);
  return changed;
}

}  // namespace cellar::notebook
