#include "notebook/document.h"

#include <charconv>

#include "host/base/status.h"
#include "notebook/document_parser.h"
#include "notebook/json_scanner.h"
#include "notebook/json_string.h"

namespace cellar::notebook {
namespace {

constexpr std::string_view kEmptyNotebook =
    "{\n"
    " \"cells\": [],\n"
    " \"metadata\": {},\n"
    " \"nbformat\": 4,\n"
    " \"nbformat_minor\": 5\n"
    "}\n";

bool EndsLine(std::string_view piece) {
  return !piece.empty() && (piece.back() == '\n' || piece.back() == '\r');
}

}  // namespace

absl::StatusOr<Document> Document::Parse(std::string bytes, const Document* before) {
  return DocumentParser(std::move(bytes), before).Parse();
}

Document Document::Empty() { return *Parse(std::string(kEmptyNotebook)); }

std::string Document::Source(size_t cell) const {
  return JoinedSource(bytes_, sources_[cell], layout_);
}

std::optional<std::string> Document::Id(size_t cell) const {
  const std::optional<Span> id = FindMember(bytes_, cells_[cell], "id");
  if (!id || bytes_[id->begin] != '"') return std::nullopt;
  return Decoded(Slice(bytes_, *id));
}

absl::StatusOr<size_t> Document::Find(const CellAddress& address) const {
  const std::optional<size_t> index = IndexFrom(address.text);
  const bool is_index = index && *index < cell_count();
  if (is_index && !address.id_first) return *index;
  CELLAR_ASSIGN_OR_RETURN(const std::optional<size_t> found, FindId(address.text));
  if (found) return *found;
  if (is_index) return *index;
  const std::string total = CountOfCells(cell_count());
  if (index) {
    return absl::OutOfRangeError("cell " + address.text + " is out of range: the notebook has " +
                                 total);
  }
  return absl::NotFoundError("no cell has the id " + address.text + " (of " + total + ")");
}

absl::StatusOr<std::optional<size_t>> Document::FindId(const std::string& id) const {
  std::optional<size_t> found;
  for (size_t cell = 0; cell < cell_count(); ++cell) {
    if (Id(cell) != id) continue;
    if (found) {
      return absl::InvalidArgumentError("cell id " + id + " is not unique: cells " +
                                        std::to_string(*found) + " and " + std::to_string(cell) +
                                        " have it");
    }
    found = cell;
  }
  return found;
}

std::optional<size_t> IndexFrom(std::string_view text) {
  if (text.size() > 1 && text[0] == '0') return std::nullopt;
  size_t index = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, index);
  return error == std::errc() && stop == end ? std::optional(index) : std::nullopt;
}

std::string CountOfCells(size_t count) {
  return std::to_string(count) + (count == 1 ? " cell" : " cells");
}

std::string JoinedSource(std::string_view bytes, Span source, Layout layout) {
  std::string text;
  if (source.empty()) return text;
  if (bytes[source.begin] == '"') {
    AppendDecoded(Slice(bytes, source), &text);
    return text;
  }
  bool add_newlines = false;
  size_t pieces = 0;
  JsonScanner scanner(bytes, source.begin);
  Span piece;
  scanner.EnterArray();
  while (scanner.NextItem() && scanner.SkipValue(&piece)) {
    if (add_newlines) text += '\n';
    AppendDecoded(Slice(bytes, piece), &text);
    if (pieces++ == 0) add_newlines = layout == Layout::kWorksheets && !EndsLine(text);
  }
  return text;
}

std::optional<Span> FindMember(std::string_view bytes, Span object, std::string_view key) {
  std::optional<Span> found;
  JsonScanner scanner(bytes, object.begin);
  Member member;
  scanner.EnterObject();
  while (scanner.NextMember(&member.key) && scanner.SkipValue(&member.value)) {
    if (StandsFor(Slice(bytes, member.key), key)) found = member.value;
  }
  return found;
}

}  // namespace cellar::notebook
