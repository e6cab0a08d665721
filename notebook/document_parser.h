// The one pass that turns bytes into a Document. Private to notebook/document.cc.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "notebook/document.h"
#include "notebook/json_scanner.h"

namespace cellar::notebook {

class DocumentParser {
 public:
  explicit DocumentParser(std::string bytes);
  absl::StatusOr<Document> Parse();

 private:
  // What was read of one cell before it is known whether it is good.
  struct CellParts {
    Span type;
    Span source;
    Span input;
  };

  absl::Status ParseTop();
  absl::Status ParseFormat(bool has_cells, bool has_worksheets);
  absl::Status ParseWorksheets();
  absl::Status ParseWorksheet();
  absl::Status ParseCells();
  absl::Status ParseCell();
  absl::Status AddCell(Span cell, const CellParts& parts);
  absl::Status CheckSource(Span source) const;
  absl::Status Syntax() const;
  absl::Status ErrorAt(size_t offset, std::string_view why) const;
  bool KeyIs(Span key, std::string_view name) const;
  bool ReadInteger(Span value, int* number) const;
  void ForgetCells();

  Document document_;
  JsonScanner scanner_;
};

}  // namespace cellar::notebook
