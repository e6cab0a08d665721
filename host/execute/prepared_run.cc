#include "host/execute/prepared_run.h"

#include <filesystem>
#include <set>
#include <utility>

#include "host/base/atomic_file.h"
#include "host/base/status.h"
#include "notebook/notebook_file.h"
#include "notebook/outputs.h"

namespace cellar::host {
namespace {

using notebook::Document;
using notebook::NotebookFile;

// `cells` are of the notebook without the parameters; the cell that assigns them runs in any case.
std::vector<size_t> WithCellOf(const Parameterised& parameterised,
                               const std::vector<size_t>& cells) {
  std::set<size_t> all = {parameterised.cell};
  for (size_t cell : cells) {
    all.insert(parameterised.is_new && cell >= parameterised.cell ? cell + 1 : cell);
  }
  return {all.begin(), all.end()};
}

// The notebook with what is changed before it runs, and the cells to run.
absl::StatusOr<PreparedRun> PrepareDocument(const NotebookRunRequest& request, Document document) {
  CELLAR_RETURN_IF_ERROR(CheckLanguage(document));
  CELLAR_ASSIGN_OR_RETURN(std::vector<size_t> cells, CellsToRun(document, request.selection));
  if (request.clear) {
    CELLAR_ASSIGN_OR_RETURN(document, notebook::ClearOutputs(document));
  }
  if (!request.parameters.empty()) {
    CELLAR_ASSIGN_OR_RETURN(Parameterised parameterised,
                            WithParameters(document, request.parameters));
    cells = WithCellOf(parameterised, cells);
    document = std::move(parameterised.document);
  }
  return PreparedRun{.document = std::move(document),
                     .options = {.cells = std::move(cells),
                                 .timeout = request.timeout,
                                 .clamp_note = request.clamp_note,
                                 .allow_errors = request.allow_errors}};
}

}  // namespace

absl::StatusOr<PreparedRun> PrepareRun(const NotebookRunRequest& request) {
  SaveTarget target = {.path = request.output.empty() ? request.file : request.output};
  // Before it is read: a change after that is noticed when the file is to be written.
  const absl::StatusOr<FileStamp> stamp = FileStamp::Of(request.file);
  CELLAR_ASSIGN_OR_RETURN(NotebookFile file, NotebookFile::Open(request.file));
  // Better known now than when hours of cells have run.
  CELLAR_RETURN_IF_ERROR(CheckReplaceable(target.path));
  if (request.output.empty()) {
    CELLAR_RETURN_IF_ERROR(stamp.status());
    target.expected = *stamp;
  }
  absl::StatusOr<PreparedRun> prepared = PrepareDocument(request, file.document());
  if (!prepared.ok()) return notebook::WithPath(request.file, prepared.status());
  prepared->target = std::move(target);
  return prepared;
}

std::string FolderOf(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  return folder.empty() ? "." : folder.string();
}

}  // namespace cellar::host
