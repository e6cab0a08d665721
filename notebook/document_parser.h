// The one pass that turns bytes into a Document. Private to notebook/document.cc.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "notebook/document.h"
#include "notebook/json_scanner.h"

namespace cellar::notebook {

class DocumentParser {
 public:
  // As for Document::Parse.
  DocumentParser(std::string bytes, const Document* before);
  absl::StatusOr<Document> Parse();

 private:
  // What was read of one cell before it is known whether it is good.
  struct SourceParts {
    Span span;
    std::optional<size_t> fault;  // where something stands that is no string
  };
  struct CellParts {
    Span type;
    SourceParts source;
    SourceParts input;
  };

  absl::Status ParseTop();
  absl::Status ParseFormat(bool has_cells, bool has_worksheets);
  absl::Status ParseWorksheets();
  absl::Status ParseWorksheet();
  absl::Status ParseCells();
  absl::Status ParseCell();
  bool SkipKnownCell();
  absl::Status AddCell(Span cell, const CellParts& parts);
  void SkipSource(SourceParts* source);
  absl::Status Syntax() const;
  absl::Status ErrorAt(size_t offset, std::string_view why) const;
  bool KeyIs(Span key, std::string_view name) const;
  bool ReadInteger(Span value, int* number) const;
  void ForgetCells();

  Document document_;
  JsonScanner scanner_;
  const Document* const before_;
  size_t next_before_ = 0;  // the cell of `before_` that is expected next
};

}  // namespace cellar::notebook
