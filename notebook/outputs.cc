#include "notebook/outputs.h"

#include <optional>
#include <string>
#include <utility>

#include "host/base/status.h"
#include "notebook/json_scanner.h"
#include "notebook/rewriter.h"

namespace cellar::notebook {
namespace {

bool HasOutputs(const Document& document, size_t cell) {
  const std::string& bytes = document.bytes();
  const std::optional<Span> outputs = FindMember(bytes, document.span(cell), "outputs");
  return outputs && bytes[outputs->begin] == '[' && !Items(bytes, *outputs).empty();
}

bool HasCount(const Document& document, size_t cell) {
  const std::string& bytes = document.bytes();
  const std::optional<Span> count =
      FindMember(bytes, document.span(cell), CountKey(document.layout()));
  return count && Slice(bytes, *count) != "null";
}

}  // namespace

bool LosesOutputs(const Document& document, size_t cell, const CellChange& change) {
  const bool stays_code = change.type.value_or(document.type(cell)) == CellType::kCode;
  return (change.clear_outputs || !stays_code) && HasOutputs(document, cell);
}

absl::StatusOr<Document> ClearOutputs(const Document& document) {
  Rewriter rewriter(document);
  for (size_t cell = 0; cell < document.cell_count(); ++cell) {
    const bool is_code = document.type(cell) == CellType::kCode;
    if (is_code && (HasOutputs(document, cell) || HasCount(document, cell))) {
      rewriter.Change(cell, {.clear_outputs = true, .clear_count = true});
    } else {
      rewriter.Keep(cell);
    }
  }
  CELLAR_ASSIGN_OR_RETURN(std::string bytes, rewriter.Finish());
  return Document::Parse(std::move(bytes));
}

}  // namespace cellar::notebook
