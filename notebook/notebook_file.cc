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
  if (!force) CELLAR_RETURN_IF_ERROR(CheckUnchanged());
  return ReplaceFile(path_, document.bytes());
}

NotebookFile::NotebookFile(std::string path, Document document, bool exists)
    : path_(std::move(path)), document_(std::move(document)), exists_(exists) {}

// Compares content rather than times: an editor that wrote the same again did no harm, and one that
// was faster than the clock did.
absl::Status NotebookFile::CheckUnchanged() const {
  const absl::StatusOr<bool> same = FileHolds(path_, document_.bytes());
  const bool unchanged = exists_ ? same.ok() && *same : absl::IsNotFound(same.status());
  if (unchanged) return absl::OkStatus();
  return absl::AbortedError(path_ + ": changed on disk since it was read; nothing was written");
}

absl::Status WithPath(const std::string& path, const absl::Status& status) {
  return absl::Status(status.code(), path + ": " + std::string(status.message()));
}

}  // namespace cellar::notebook
