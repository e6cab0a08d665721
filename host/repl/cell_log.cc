#include "host/repl/cell_log.h"

#include "host/base/status.h"
#include "host/execute/executed_document.h"
#include "notebook/action.h"
#include "notebook/document.h"
#include "notebook/notebook_file.h"
#include "notebook/percent.h"

namespace cellar::host {
namespace {

// Of all cells together; beyond it the oldest lose theirs.
constexpr size_t kMaxOutputBytes = size_t{256} << 20;
constexpr size_t kMaxFileBytes = size_t{256} << 20;

size_t SizeOf(const std::vector<RecordedOutput>& outputs) {
  size_t size = 0;
  for (const RecordedOutput& output : outputs) {
    size += output.text.size() + output.error.traceback.size();
    for (const wire::MimeEntry& entry : output.data) size += entry.data.size();
  }
  return size;
}

absl::StatusOr<notebook::Document> WithoutOutputs(const std::vector<CellLog::Cell>& cells) {
  notebook::Document document = notebook::Document::Empty();
  for (const CellLog::Cell& cell : cells) {
    CELLAR_ASSIGN_OR_RETURN(notebook::ActionResult result,
                            notebook::InsertCell(document, document.cell_count(),
                                                 notebook::CellType::kCode, cell.source));
    document = std::move(result.document);
  }
  return document;
}

}  // namespace

void CellLog::Begin(std::string source) {
  recorder_ = CellRecorder();
  cell_ = {.source = std::move(source), .started = absl::Now()};
}

void CellLog::End(const CellOutcome& outcome) {
  cell_.ended = absl::Now();
  cell_.execution_count = outcome.execution_count;
  if (outcome.error) recorder_.AddError(*outcome.error);
  cell_.outputs = recorder_.Outputs(outcome.truncation ? outcome.truncation->artifact_path : "");
  recorder_ = CellRecorder();
  bytes_ += SizeOf(cell_.outputs);
  cells_.push_back(std::exchange(cell_, {}));
  LimitMemory();
}

void CellLog::Rewind(uint32_t before_cell) {
  while (cells_.size() > done_with_ && cells_.back().execution_count >= before_cell) {
    bytes_ -= SizeOf(cells_.back().outputs);
    cells_.pop_back();
  }
}

void CellLog::LimitMemory() {
  for (size_t i = 0; i + 1 < cells_.size() && bytes_ > kMaxOutputBytes; ++i) {
    bytes_ -= SizeOf(cells_[i].outputs);
    cells_[i].outputs.clear();
  }
}

bool IsCellFile(std::string_view path) { return path.ends_with(".ipynb") || path.ends_with(".py"); }

absl::StatusOr<FileStamp> SaveCells(const std::vector<CellLog::Cell>& cells,
                                    const std::string& path) {
  if (!IsCellFile(path)) {
    return absl::InvalidArgumentError("give the file a name in .ipynb or .py");
  }
  CELLAR_ASSIGN_OR_RETURN(notebook::Document document, WithoutOutputs(cells));
  if (path.ends_with(".py")) {
    CELLAR_ASSIGN_OR_RETURN(std::string script, notebook::ToPercent(document));
    return ReplaceStampedFile(path, script, std::nullopt);
  }
  ExecutedDocument executed(std::move(document));
  for (size_t i = 0; i < cells.size(); ++i) {
    executed.Put(i, {.execution_count = cells[i].execution_count,
                     .started = cells[i].started,
                     .ended = cells[i].ended,
                     .outputs = cells[i].outputs});
  }
  return ReplaceStampedFile(path, executed.Bytes(), std::nullopt);
}

absl::StatusOr<std::vector<std::string>> LoadCells(const std::string& path) {
  absl::StatusOr<notebook::Document> document = absl::InvalidArgumentError("");
  if (path.ends_with(".ipynb")) {
    CELLAR_ASSIGN_OR_RETURN(notebook::NotebookFile file, notebook::NotebookFile::Open(path));
    document = file.document();
  } else {
    CELLAR_ASSIGN_OR_RETURN(std::string script, ReadWholeFile(path, kMaxFileBytes));
    document = notebook::FromPercent(script);
    CELLAR_RETURN_IF_ERROR(notebook::WithPath(path, document.status()));
  }
  std::vector<std::string> cells;
  for (size_t i = 0; i < document->cell_count(); ++i) {
    if (document->type(i) != notebook::CellType::kCode) continue;
    std::string source = document->Source(i);
    if (source.find_first_not_of(" \t\n") != std::string::npos) cells.push_back(std::move(source));
  }
  return cells;
}

}  // namespace cellar::host
