// A notebook on disk: opened, and saved if it is still what was opened. Owns the path and the bytes
// read, not the edits.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "notebook/document.h"

namespace cellar::notebook {

class NotebookFile {
 public:
  static absl::StatusOr<NotebookFile> Open(std::string path);
  // A missing file starts as Document::Empty(); it exists once saved.
  static absl::StatusOr<NotebookFile> OpenOrStart(std::string path);

  const std::string& path() const { return path_; }
  const Document& document() const { return document_; }
  // False for a notebook that OpenOrStart started.
  bool exists() const { return exists_; }

  // Puts `document` in the place of the file. Writes nothing if that would not change it. Fails
  // with Aborted if the file changed since it was opened, unless `force`d. Errors name the file.
  absl::Status Save(const Document& document, bool force) const;

 private:
  NotebookFile(std::string path, Document document, bool exists);
  absl::Status ReplaceUnchanged(const Document& document) const;
  absl::Status MakeNew(const Document& document) const;

  std::string path_;
  Document document_;
  bool exists_;
};

// `status` with "path: " before its message.
absl::Status WithPath(const std::string& path, const absl::Status& status);

}  // namespace cellar::notebook
