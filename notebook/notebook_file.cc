#include "notebook/notebook_file.h"

#include <utility>

#include "host/base/atomic_file.h"
#include "host/base/status.h"

namespace cellar::notebook {

absl::StatusOr<NotebookFile> NotebookFile::Open(std::string path) {
  CELLAR_ASSIGN_OR_RETURN(std::string bytes, ReadWholeFile(path, kMaxNotebookBytes));
  absl::StatusOr<Document> document = Document::Parse(std::move(bytes));
  if (!document.ok()) return WithPath(path, document.status());
  return NotebookFile(std::move(path), *std::move(document), true);
}

absl::StatusOr<NotebookFile> NotebookFile::OpenOrStart(std::string path) {
  absl::StatusOr<NotebookFile> file = Open(path);
  if (!absl::IsNotFound(file.status())) return file;
  return NotebookFile(std::move(path), Document::Empty(), false);
}

absl::Status NotebookFile::Save(const Document& document, bool force) const {
  if (exists_ && document.bytes() == document_.bytes()) return absl::OkStatus();
  if (force) return ReplaceFile(path_, document.bytes());
  return exists_ ? ReplaceUnchanged(document) : MakeNew(document);
}

NotebookFile::NotebookFile(std::string path, Document document, bool exists)
    : path_(std::move(path)), document_(std::move(document)), exists_(exists) {}

// Compares content rather than times: an editor that wrote the same again did no harm, and one that
// was faster than the clock did. From then on the stamp tells, to the moment of the renaming.
absl::Status NotebookFile::ReplaceUnchanged(const Document& document) const {
  const absl::StatusOr<FileStamp> stamp = FileStamp::Of(path_);
  const absl::StatusOr<bool> same = FileHolds(path_, document_.bytes());
  if (!stamp.ok() || !same.ok() || !*same) return ChangedOnDisk(path_);
  return ReplaceStampedFile(path_, document.bytes(), *stamp).status();
}

absl::Status NotebookFile::MakeNew(const Document& document) const {
  absl::Status made = MakeFile(path_, document.bytes());
  return absl::IsAlreadyExists(made) ? ChangedOnDisk(path_) : made;
}

absl::Status WithPath(const std::string& path, const absl::Status& status) {
  return absl::Status(status.code(), path + ": " + std::string(status.message()));
}

}  // namespace cellar::notebook
