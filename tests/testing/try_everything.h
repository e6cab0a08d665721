// Everything notebook/ does, tried on bytes that may be anything. Shared by the random test and the
// fuzzer.
#pragma once

#include <cstdlib>
#include <string>

#include "notebook/action.h"
#include "notebook/apply.h"
#include "notebook/document.h"
#include "notebook/outputs.h"
#include "notebook/percent.h"
#include "notebook/text_view.h"

namespace cellar::notebook {

// Aborts, so that a fuzzer notices too.
inline void Require(bool holds) {
  if (!holds) std::abort();
}

inline void TryDocument(const Document& document) {
  absl::StatusOr<EditedText> text = EditedText::Parse(RenderText(document, {.outputs = true}));
  Require(text.ok());
  absl::StatusOr<Applied> applied = Apply(document, *text, {});
  Require(applied.ok() && !applied->document);
  Require(ClearOutputs(document).ok());
  if (absl::StatusOr<std::string> script = ToPercent(document); script.ok()) {
    absl::StatusOr<Document> back = FromPercent(*script);
    Require(!back.ok() || RenderText(*back) == RenderText(document));
  }
  for (size_t cell = 0; cell < document.cell_count(); ++cell) {
    absl::StatusOr<ActionResult> same = EditCell(document, cell, document.Source(cell));
    Require(!same.ok() || same->document.bytes() == document.bytes());
    Require(EditCell(document, cell, "a\nb\n", {.type = CellType::kRaw}).ok());
    Require(EditCell(document, cell, "c", {.type = CellType::kCode}).ok());
    Require(DeleteCell(document, cell).ok());
  }
  if (!document.lists().empty()) Require(InsertCell(document, 0, CellType::kCode, "x").ok());
}

inline void TryEverything(const std::string& bytes) {
  if (absl::StatusOr<Document> document = Document::Parse(bytes); document.ok()) {
    TryDocument(*document);
  }
  if (absl::StatusOr<EditedText> text = EditedText::Parse(bytes); text.ok()) {
    (void)Apply(Document::Empty(), *text, {});
  }
  if (absl::StatusOr<Document> document = FromPercent(bytes); document.ok()) {
    TryDocument(*document);
  }
}

}  // namespace cellar::notebook
