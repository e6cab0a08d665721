#include "notebook/action.h"

#include <utility>

#include "host/base/status.h"
#include "notebook/json_string.h"
#include "notebook/outputs.h"
#include "notebook/rewriter.h"

namespace cellar::notebook {
namespace {

absl::Status CheckIndex(size_t index, size_t limit, const Document& document) {
  if (index < limit) return absl::OkStatus();
  return absl::OutOfRangeError("cell " + std::to_string(index) +
                               " is out of range: the notebook has " +
                               CountOfCells(document.cell_count()));
}

absl::Status CheckEncodable(const std::string& source) {
  if (IsEncodable(source)) return absl::OkStatus();
  return absl::InvalidArgumentError("the source given is not UTF-8");
}

void KeepRange(size_t begin, size_t end, Rewriter* rewriter) {
  for (size_t cell = begin; cell < end; ++cell) rewriter->Keep(cell);
}

// Parses the rewritten bytes and checks that the cell the action wrote says what was asked for.
absl::StatusOr<ActionResult> Finished(const Document& before, Rewriter* rewriter,
                                      ActionDetails details) {
  CELLAR_ASSIGN_OR_RETURN(std::string bytes, rewriter->Finish());
  CELLAR_ASSIGN_OR_RETURN(Document document, Document::Parse(std::move(bytes), &before));
  details.total = document.cell_count();
  if (details.action != "delete") {
    if (document.Source(details.index) != details.source ||
        document.type(details.index) != details.type) {
      return absl::InternalError("cell " + std::to_string(details.index) +
                                 " would not read back as it was given; nothing was changed");
    }
    details.id = document.Id(details.index);
  }
  return ActionResult{std::move(document), std::move(details)};
}

}  // namespace

absl::StatusOr<ActionResult> EditCell(const Document& document, size_t index,
                                      const std::string& source, const EditOptions& options) {
  CELLAR_RETURN_IF_ERROR(CheckIndex(index, document.cell_count(), document));
  CELLAR_RETURN_IF_ERROR(CheckEncodable(source));
  ActionDetails details{.action = "edit", .index = index, .source = source};
  details.type = options.type.value_or(document.type(index));
  CellChange change;
  if (details.type != document.type(index)) change.type = details.type;
  if (source != document.Source(index)) change.source = source;
  change.clear_outputs = change.source && !options.keep_outputs;
  details.outputs_cleared = LosesOutputs(document, index, change);

  Rewriter rewriter(document);
  KeepRange(0, index, &rewriter);
  if (change.type || change.source) {
    rewriter.Change(index, change);
  } else {
    rewriter.Keep(index);
  }
  KeepRange(index + 1, document.cell_count(), &rewriter);
  return Finished(document, &rewriter, std::move(details));
}

absl::StatusOr<ActionResult> InsertCell(const Document& document, size_t index, CellType type,
                                        const std::string& source) {
  CELLAR_RETURN_IF_ERROR(CheckIndex(index, document.cell_count() + 1, document));
  CELLAR_RETURN_IF_ERROR(CheckEncodable(source));
  Rewriter rewriter(document);
  KeepRange(0, index, &rewriter);
  rewriter.Add({.type = type, .source = source});
  KeepRange(index, document.cell_count(), &rewriter);
  return Finished(document, &rewriter,
                  {.action = "insert", .index = index, .type = type, .source = source});
}

absl::StatusOr<ActionResult> DeleteCell(const Document& document, size_t index) {
  CELLAR_RETURN_IF_ERROR(CheckIndex(index, document.cell_count(), document));
  ActionDetails details{.action = "delete", .index = index};
  details.type = document.type(index);
  details.id = document.Id(index);
  details.source = document.Source(index);
  Rewriter rewriter(document);
  KeepRange(0, index, &rewriter);
  KeepRange(index + 1, document.cell_count(), &rewriter);
  return Finished(document, &rewriter, std::move(details));
}

std::string Summary(const ActionDetails& details) {
  const std::string verb = details.action == "edit"     ? "Edited "
                           : details.action == "insert" ? "Inserted "
                                                        : "Deleted ";
  std::string summary = verb;
  summary += CellTypeName(details.type);
  summary += " cell " + std::to_string(details.index);
  if (details.outputs_cleared) summary += ", whose outputs were cleared";
  return summary + "; the notebook has " + CountOfCells(details.total);
}

std::string DetailsJson(const ActionDetails& details) {
  std::string json = "{\"action\": " + Quoted(details.action, {});
  json += ", \"index\": " + std::to_string(details.index);
  json += ", \"type\": " + Quoted(CellTypeName(details.type), {});
  if (details.id) json += ", \"id\": " + Quoted(*details.id, {});
  json += ", \"total\": " + std::to_string(details.total);
  json += ", \"source\": " + Quoted(details.source, {});
  json += details.outputs_cleared ? ", \"outputs_cleared\": true" : "";
  return json + "}";
}

}  // namespace cellar::notebook
