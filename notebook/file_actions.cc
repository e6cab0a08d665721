#include "notebook/file_actions.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "host/base/atomic_file.h"
#include "host/base/status.h"
#include "notebook/content_hash.h"
#include "notebook/diff.h"
#include "notebook/notebook_file.h"
#include "notebook/outputs.h"
#include "notebook/percent.h"

namespace cellar::notebook {
namespace {

// Errors of edits know cells and lines; this adds the file.
template <typename T>
absl::StatusOr<T> InFile(const std::string& path, absl::StatusOr<T> result) {
  if (!result.ok()) return WithPath(path, result.status());
  return result;
}

absl::Status CheckBase(const NotebookFile& file, const SaveOptions& save) {
  if (!save.base) return absl::OkStatus();
  if (save.base->empty())
    return absl::InvalidArgumentError("base: expected a hash, and it is empty");
  const std::string hash = ContentHash(file.document().bytes());
  if (*save.base == hash) return absl::OkStatus();
  return absl::AbortedError(file.path() + ": changed since base " + *save.base +
                            " was shown (it is " + hash + " now); nothing was written");
}

absl::StatusOr<ActionDetails> SaveAction(const NotebookFile& file,
                                         absl::StatusOr<ActionResult> result,
                                         const SaveOptions& save) {
  if (!result.ok()) return WithPath(file.path(), result.status());
  CELLAR_RETURN_IF_ERROR(file.Save(result->document, save.force));
  return std::move(result->details);
}

std::string TextOf(const Document& document, const ShowOptions& options) {
  if (options.raw) return document.bytes();
  return RenderText(document, {.outputs = options.outputs, .numbers = !options.diff});
}

absl::StatusOr<Shown> ShownForDiff(const std::string& path, const ShowOptions& options) {
  CELLAR_ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(path, kMaxNotebookBytes));
  const absl::StatusOr<Document> document = Document::Parse(bytes);
  return Shown{.text = document.ok() ? TextOf(*document, options) : bytes,
               .hash = ContentHash(bytes)};
}

absl::StatusOr<Shown> ShownNotebook(const std::string& path, const ShowOptions& options) {
  CELLAR_ASSIGN_OR_RETURN(const NotebookFile file, NotebookFile::Open(path));
  return Shown{.text = TextOf(file.document(), options),
               .hash = ContentHash(file.document().bytes())};
}

absl::Status ConvertToScript(const std::string& from, const std::string& to, bool force) {
  CELLAR_ASSIGN_OR_RETURN(const std::string script, ScriptOfFile(from));
  if (force) return ReplaceFile(to, script);
  absl::Status made = MakeFile(to, script);
  if (!absl::IsAlreadyExists(made)) return made;
  return absl::AlreadyExistsError(to + ": exists already; force (--force) replaces it");
}

absl::Status ConvertToNotebook(const std::string& from, const std::string& to,
                               const ConvertOptions& options) {
  CELLAR_ASSIGN_OR_RETURN(const std::string script, ReadWholeFile(from, kMaxNotebookBytes));
  CELLAR_ASSIGN_OR_RETURN(const NotebookFile file, NotebookFile::OpenOrStart(to));
  if (!file.exists()) {
    CELLAR_ASSIGN_OR_RETURN(const Document document, InFile(from, FromPercent(script)));
    return file.Save(document, false);
  }
  CELLAR_ASSIGN_OR_RETURN(
      const Applied applied,
      InFile(from, ApplyPercent(file.document(), script, {.keep_outputs = options.keep_outputs})));
  return applied.document ? file.Save(*applied.document, options.force) : absl::OkStatus();
}

bool EndsIn(std::string path, std::string_view ending) {
  std::transform(path.begin(), path.end(), path.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return path.ends_with(ending);
}

}  // namespace

absl::StatusOr<Shown> ShowFile(const std::string& path, const ShowOptions& options) {
  CELLAR_ASSIGN_OR_RETURN(
      Shown shown, options.diff ? ShownForDiff(path, options) : ShownNotebook(path, options));
  if (!options.lines.empty()) {
    CELLAR_ASSIGN_OR_RETURN(shown.text, InFile(path, SelectLines(shown.text, options.lines)));
  }
  return shown;
}

absl::StatusOr<FileApplied> ApplyToFile(const std::string& path, std::string text,
                                        const std::string& text_name,
                                        const FileApplyOptions& options) {
  CELLAR_ASSIGN_OR_RETURN(const NotebookFile file, NotebookFile::OpenOrStart(path));
  CELLAR_RETURN_IF_ERROR(CheckBase(file, options.save));
  CELLAR_ASSIGN_OR_RETURN(const EditedText edited,
                          InFile(text_name, EditedText::Parse(std::move(text))));
  FileApplied result;
  CELLAR_ASSIGN_OR_RETURN(
      result.applied,
      InFile(path, Apply(file.document(), edited, {.keep_outputs = options.keep_outputs})));
  if (options.dry_run) {
    result.diff = UnifiedDiff(RenderText(file.document()), edited.text(), path, "edited text");
  } else if (result.applied.document) {
    CELLAR_RETURN_IF_ERROR(file.Save(*result.applied.document, options.save.force));
  }
  return result;
}

std::string Summary(const Applied& applied) {
  if (!applied.document) return "nothing to change";
  std::string summary = CountOfCells(applied.changed) + " changed, " +
                        std::to_string(applied.added) + " added, " +
                        std::to_string(applied.removed) + " removed";
  if (!applied.cleared.empty()) {
    summary += "; outputs cleared of cell";
    for (size_t cell : applied.cleared) summary += " " + std::to_string(cell);
  }
  for (const NearMarker& near : applied.near_markers) {
    summary +=
        "\nline " + std::to_string(near.line) + " looks like a marker but is not one: " + near.text;
  }
  return summary;
}

absl::StatusOr<ActionDetails> EditInFile(const std::string& path, const CellAddress& cell,
                                         const std::string& source, const EditOptions& options,
                                         const SaveOptions& save) {
  CELLAR_ASSIGN_OR_RETURN(const NotebookFile file, NotebookFile::Open(path));
  CELLAR_RETURN_IF_ERROR(CheckBase(file, save));
  CELLAR_ASSIGN_OR_RETURN(const size_t index, InFile(path, file.document().Find(cell)));
  return SaveAction(file, EditCell(file.document(), index, source, options), save);
}

absl::StatusOr<ActionDetails> InsertIntoFile(const std::string& path, const CellAddress& cell,
                                             CellType type, const std::string& source,
                                             const SaveOptions& save) {
  CELLAR_ASSIGN_OR_RETURN(const NotebookFile file, NotebookFile::OpenOrStart(path));
  CELLAR_RETURN_IF_ERROR(CheckBase(file, save));
  size_t index = file.document().cell_count();
  const absl::StatusOr<size_t> found = file.document().Find(cell);
  const bool is_end = IndexFrom(cell.text) == index && !(cell.id_first && found.ok());
  if (!is_end) {
    CELLAR_ASSIGN_OR_RETURN(index, InFile(path, found));
  }
  return SaveAction(file, InsertCell(file.document(), index, type, source), save);
}

absl::StatusOr<ActionDetails> DeleteFromFile(const std::string& path, const CellAddress& cell,
                                             const SaveOptions& save) {
  CELLAR_ASSIGN_OR_RETURN(const NotebookFile file, NotebookFile::Open(path));
  CELLAR_RETURN_IF_ERROR(CheckBase(file, save));
  CELLAR_ASSIGN_OR_RETURN(const size_t index, InFile(path, file.document().Find(cell)));
  return SaveAction(file, DeleteCell(file.document(), index), save);
}

absl::Status NewFile(const std::string& path) {
  CELLAR_ASSIGN_OR_RETURN(const NotebookFile file, NotebookFile::OpenOrStart(path));
  if (file.exists()) return absl::AlreadyExistsError(path + ": exists already");
  return file.Save(Document::Empty(), false);
}

absl::Status ClearFile(const std::string& path, const SaveOptions& save) {
  CELLAR_ASSIGN_OR_RETURN(const NotebookFile file, NotebookFile::Open(path));
  CELLAR_RETURN_IF_ERROR(CheckBase(file, save));
  CELLAR_ASSIGN_OR_RETURN(const Document cleared, InFile(path, ClearOutputs(file.document())));
  return file.Save(cleared, save.force);
}

bool IsNotebookPath(std::string path) { return EndsIn(std::move(path), ".ipynb"); }

absl::Status ConvertFile(const std::string& from, const std::string& to,
                         const ConvertOptions& options) {
  if (IsNotebookPath(from) == IsNotebookPath(to)) {
    return absl::InvalidArgumentError(
        "convert goes from a .ipynb file to a script or from a script to a .ipynb file");
  }
  if (!IsNotebookPath(to) && !EndsIn(to, ".py")) {
    return absl::InvalidArgumentError(to + ": convert writes .py and .ipynb files");
  }
  return IsNotebookPath(from) ? ConvertToScript(from, to, options.force)
                              : ConvertToNotebook(from, to, options);
}

absl::StatusOr<std::string> ScriptOfFile(const std::string& path) {
  CELLAR_ASSIGN_OR_RETURN(const NotebookFile file, NotebookFile::Open(path));
  return InFile(path, ToPercent(file.document()));
}

}  // namespace cellar::notebook
