// A notebook as its bytes plus a table of where the cells lie in them. Immutable: an edit makes new
// bytes (notebook/rewriter.h) and these are parsed again. Knows nothing of files on disk.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "notebook/cell.h"
#include "notebook/span.h"

namespace cellar::notebook {

// A list of cells in the file; nbformat 3 may have several. Its cells are [first, first + count) of
// the document.
struct CellList {
  Span span;
  size_t first = 0;
  size_t count = 0;
};

// How a cell is named: by its index or by its id. Digits may be either.
struct CellAddress {
  std::string text;
  // Whether digits are an id where a cell has it, and not the index that they are otherwise.
  bool id_first = false;

  bool operator==(const CellAddress&) const = default;
};

// The index that the text is. A zero before other digits makes an id of it.
std::optional<size_t> IndexFrom(std::string_view text);

// "1 cell", "2 cells"
std::string CountOfCells(size_t count);

class Document {
 public:
  // One pass over the bytes. Fails with line, column and path where the bytes are not a notebook.
  // `before` is what the bytes were made from, if that is known: a cell that is as it was there
  // need not be looked into.
  static absl::StatusOr<Document> Parse(std::string bytes, const Document* before = nullptr);
  // nbformat 4.5 without cells.
  static Document Empty();

  const std::string& bytes() const { return bytes_; }
  Layout layout() const { return layout_; }
  // From 4.5 on every cell has an id.
  bool has_ids() const { return format_ == 4 && format_minor_ >= 5; }

  size_t cell_count() const { return cells_.size(); }
  CellType type(size_t cell) const { return types_[cell]; }
  // The cell's object.
  Span span(size_t cell) const { return cells_[cell]; }
  // The cell's source value, a string or a list of strings; empty if the cell has none.
  Span source_span(size_t cell) const { return sources_[cell]; }
  std::string Source(size_t cell) const;
  std::optional<std::string> Id(size_t cell) const;

  const std::vector<CellList>& lists() const { return lists_; }
  const std::vector<Span>& cell_spans() const { return cells_; }

  // The cell that `address` names. Digits that are no index here are an id, whichever is first.
  absl::StatusOr<size_t> Find(const CellAddress& address) const;

 private:
  friend class DocumentParser;
  Document() = default;
  // Fails if several cells have it.
  absl::StatusOr<std::optional<size_t>> FindId(const std::string& id) const;

  std::string bytes_;
  Layout layout_ = Layout::kFlat;
  int format_ = 4;
  int format_minor_ = 0;
  std::vector<CellList> lists_;
  // By cell. Apart from each other because a million cells are looked at one property at a time.
  std::vector<Span> cells_;
  std::vector<Span> sources_;
  std::vector<CellType> types_;
};

// The text of a source value: the string, or the pieces joined. nbformat 2 and 3 wrote lines
// without their ends at times; those are joined by newlines, as all readers of these formats do.
std::string JoinedSource(std::string_view bytes, Span source, Layout layout);

// The value of the last member called `key` of `object` (Python's reader takes the last of
// duplicates).
std::optional<Span> FindMember(std::string_view bytes, Span object, std::string_view key);

}  // namespace cellar::notebook
