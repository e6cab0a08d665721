#include "notebook/document_parser.h"

#include <algorithm>
#include <charconv>

#include "host/base/status.h"
#include "host/base/utf8.h"
#include "notebook/json_location.h"
#include "notebook/json_string.h"

namespace cellar::notebook {
namespace {

constexpr int kNewestFormat = 4;

size_t SkipByteOrderMark(std::string_view bytes) {
  return bytes.substr(0, kByteOrderMark.size()) == kByteOrderMark ? kByteOrderMark.size() : 0;
}

bool IsConflictMarker(std::string_view line) {
  return line.substr(0, 7) == "<<<<<<<" || line.substr(0, 7) == "=======" ||
         line.substr(0, 7) == ">>>>>>>";
}

}  // namespace

// The bytes are moved into the document first; from then on they stay where they are.
DocumentParser::DocumentParser(std::string bytes, const Document* before)
    : scanner_({}), before_(before) {
  document_.bytes_ = std::move(bytes);
}

absl::StatusOr<Document> DocumentParser::Parse() {
  const std::string& bytes = document_.bytes_;
  if (bytes.size() > kMaxNotebookBytes) {
    return absl::ResourceExhaustedError("the notebook has " + std::to_string(bytes.size()) +
                                        " bytes, more than the limit of " +
                                        std::to_string(kMaxNotebookBytes));
  }
  scanner_ = JsonScanner(bytes, SkipByteOrderMark(bytes));
  CELLAR_RETURN_IF_ERROR(ParseTop());
  return std::move(document_);
}

absl::Status DocumentParser::ParseTop() {
  const char first = scanner_.Peek();
  if (first == '\0' && scanner_.offset() == document_.bytes_.size()) {
    return ErrorAt(scanner_.offset(), "not a notebook: the file is empty");
  }
  if (first == '[' || first == '"') {
    return ErrorAt(scanner_.offset(), "not a notebook: the top is not an object");
  }
  bool has_cells = false;
  bool has_worksheets = false;
  Span key, value, format, minor;
  scanner_.EnterObject();
  while (scanner_.NextMember(&key)) {
    if (KeyIs(key, "cells")) {
      ForgetCells();
      document_.layout_ = Layout::kFlat;
      has_cells = true;
      CELLAR_RETURN_IF_ERROR(ParseCells());
    } else if (KeyIs(key, "worksheets") && !has_cells) {
      ForgetCells();
      document_.layout_ = Layout::kWorksheets;
      has_worksheets = true;
      CELLAR_RETURN_IF_ERROR(ParseWorksheets());
    } else if (scanner_.SkipValue(&value)) {
      if (KeyIs(key, "nbformat")) format = value;
      if (KeyIs(key, "nbformat_minor")) minor = value;
    }
  }
  if (!scanner_.ExpectEnd()) return Syntax();
  document_.format_ = has_cells ? 4 : 3;
  if (!format.empty() && !ReadInteger(format, &document_.format_)) {
    return ErrorAt(format.begin, "not a notebook: nbformat is not a number");
  }
  if (!minor.empty()) ReadInteger(minor, &document_.format_minor_);
  return ParseFormat(has_cells, has_worksheets);
}

absl::Status DocumentParser::ParseFormat(bool has_cells, bool has_worksheets) {
  if (document_.format_ > kNewestFormat) {
    return absl::UnimplementedError("nbformat " + std::to_string(document_.format_) +
                                    " is newer than the newest format known, 4");
  }
  if (!has_cells && !has_worksheets) {
    return absl::InvalidArgumentError("not a notebook: the object at the top has no \"cells\"");
  }
  return absl::OkStatus();
}

absl::Status DocumentParser::ParseWorksheets() {
  if (scanner_.Peek() != '[') return ErrorAt(scanner_.offset(), "worksheets is not a list");
  scanner_.EnterArray();
  while (scanner_.NextItem()) CELLAR_RETURN_IF_ERROR(ParseWorksheet());
  return Syntax();
}

absl::Status DocumentParser::ParseWorksheet() {
  if (scanner_.Peek() != '{') return ErrorAt(scanner_.offset(), "worksheet is not an object");
  Span key, value;
  scanner_.EnterObject();
  while (scanner_.NextMember(&key)) {
    if (KeyIs(key, "cells")) {
      CELLAR_RETURN_IF_ERROR(ParseCells());
    } else {
      scanner_.SkipValue(&value);
    }
  }
  return Syntax();
}

absl::Status DocumentParser::ParseCells() {
  if (scanner_.Peek() != '[') return ErrorAt(scanner_.offset(), "cells is not a list");
  CellList list;
  list.first = document_.cells_.size();
  list.span.begin = static_cast<uint32_t>(scanner_.offset());
  scanner_.EnterArray();
  while (scanner_.NextItem()) CELLAR_RETURN_IF_ERROR(ParseCell());
  list.span.end = static_cast<uint32_t>(scanner_.offset());
  list.count = document_.cells_.size() - list.first;
  document_.lists_.push_back(list);
  return Syntax();
}

absl::Status DocumentParser::ParseCell() {
  if (SkipKnownCell()) return absl::OkStatus();
  if (scanner_.Peek() != '{') {
    Span value;
    const size_t begin = scanner_.offset();
    if (!scanner_.SkipValue(&value)) return Syntax();
    return ErrorAt(begin, "bad cell: not an object");
  }
  CellParts parts;
  Span key, value;
  Span cell{static_cast<uint32_t>(scanner_.offset()), 0};
  scanner_.EnterObject();
  while (scanner_.NextMember(&key)) {
    if (KeyIs(key, "source")) {
      SkipSource(&parts.source);
    } else if (KeyIs(key, "input")) {
      SkipSource(&parts.input);
    } else if (scanner_.SkipValue(&value) && KeyIs(key, "cell_type")) {
      parts.type = value;
    }
  }
  cell.end = static_cast<uint32_t>(scanner_.offset());
  if (scanner_.failed()) return Syntax();
  return AddCell(cell, parts);
}

// Between two versions of a notebook a cell may have changed, come or gone: hence the neighbours
// too.
bool DocumentParser::SkipKnownCell() {
  if (before_ == nullptr || before_->layout_ != document_.layout_) return false;
  scanner_.Peek();
  const size_t begin = scanner_.offset();
  const size_t first = next_before_ - std::min<size_t>(next_before_, 1);
  const size_t end = std::min(next_before_ + 2, before_->cell_count());
  for (size_t cell = first; cell < end; ++cell) {
    const Span old = before_->cells_[cell];
    const std::string_view known = Slice(before_->bytes_, old);
    if (std::string_view(document_.bytes_).substr(begin, known.size()) != known) continue;
    auto moved = [&](Span span) {
      if (span.empty()) return span;
      const auto distance = static_cast<uint32_t>(begin) - old.begin;  // may wrap around, and back
      return Span{span.begin + distance, span.end + distance};
    };
    document_.cells_.push_back(moved(old));
    document_.sources_.push_back(moved(before_->sources_[cell]));
    document_.types_.push_back(before_->types_[cell]);
    scanner_.SkipKnown(known.size());
    next_before_ = cell + 1;
    return true;
  }
  ++next_before_;
  return false;
}

absl::Status DocumentParser::AddCell(Span cell, const CellParts& parts) {
  if (parts.type.empty()) return ErrorAt(cell.begin, "bad cell: it has no cell_type");
  const std::string_view name = Slice(document_.bytes_, parts.type);
  if (name[0] != '"') return ErrorAt(parts.type.begin, "bad cell: cell_type is not a string");
  const std::optional<CellType> type = CellTypeFromName(Decoded(name));
  if (!type) {
    return ErrorAt(parts.type.begin,
                   "bad cell type " + std::string(name) + ": not code, markdown or raw");
  }
  const bool in_input = SourceKey(document_.layout_, *type) == "input";
  const SourceParts& source = in_input ? parts.input : parts.source;
  if (source.fault) {
    return ErrorAt(*source.fault, "bad cell: the source is neither a string nor a list of strings");
  }
  document_.cells_.push_back(cell);
  document_.sources_.push_back(source.span);
  document_.types_.push_back(*type);
  return absl::OkStatus();
}

// Sources are looked at on the way: they are too much of a notebook to be read twice.
void DocumentParser::SkipSource(SourceParts* source) {
  const std::string& bytes = document_.bytes_;
  const char first = scanner_.Peek();
  const size_t begin = scanner_.offset();
  source->fault.reset();
  if (first != '[') {
    if (first != '"') source->fault = begin;
    scanner_.SkipValue(&source->span);
    return;
  }
  Span piece;
  scanner_.EnterArray();
  while (scanner_.NextItem() && scanner_.SkipValue(&piece)) {
    if (bytes[piece.begin] != '"' && !source->fault) source->fault = piece.begin;
  }
  source->span = {static_cast<uint32_t>(begin), static_cast<uint32_t>(scanner_.offset())};
}

absl::Status DocumentParser::Syntax() const {
  if (!scanner_.failed()) return absl::OkStatus();
  const std::string& bytes = document_.bytes_;
  const size_t offset = scanner_.offset();
  std::string why = std::string("invalid JSON: ") + scanner_.failure();
  const size_t line_begin = offset == 0 ? 0 : bytes.rfind('\n', offset - 1) + 1;
  if (offset == bytes.size()) {
    why += ", found the end of the file";
  } else if (IsConflictMarker(std::string_view(bytes).substr(line_begin))) {
    why += ", found the marker of an unresolved merge conflict";
  }
  return ErrorAt(offset, why);
}

absl::Status DocumentParser::ErrorAt(size_t offset, std::string_view why) const {
  return absl::InvalidArgumentError(DescribeLocation(document_.bytes_, offset) + ": " +
                                    std::string(why));
}

bool DocumentParser::KeyIs(Span key, std::string_view name) const {
  return StandsFor(Slice(document_.bytes_, key), name);
}

bool DocumentParser::ReadInteger(Span value, int* number) const {
  const std::string_view digits = Slice(document_.bytes_, value);
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, *number);
  return error == std::errc() && stop == end;
}

// Of duplicate keys the last one counts.
void DocumentParser::ForgetCells() {
  next_before_ = 0;
  document_.lists_.clear();
  document_.cells_.clear();
  document_.sources_.clear();
  document_.types_.clear();
}

}  // namespace cellar::notebook
