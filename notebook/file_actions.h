// What can be asked of a notebook by its path: each reads the file, does one thing, saves the file
// if that changed it, and tells what it did. The commands and the line protocol offer these under
// the same names. May block as long as the disk does; errors name the file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "notebook/action.h"
#include "notebook/apply.h"
#include "notebook/text_view.h"

namespace cellar::notebook {

struct SaveOptions {
  std::optional<std::string> base;  // refuse unless the file has this ContentHash
  bool force = false;               // save even if the file changed since it was read
};

struct ShowOptions {
  std::vector<LineRange> lines;  // of the text; empty: all
  bool raw = false;              // the file as it is
  bool outputs = false;
  // For a diff with the text of another notebook: no numbers of cells, and what is no notebook is
  // shown as it is.
  bool diff = false;
};
struct Shown {
  std::string text;
  std::string hash;  // of the file, for SaveOptions::base
};
absl::StatusOr<Shown> ShowFile(const std::string& path, const ShowOptions& options);

struct FileApplyOptions {
  bool keep_outputs = false;
  bool dry_run = false;  // make the diff and write nothing
  SaveOptions save;
};
struct FileApplied {
  Applied applied;
  std::string diff;  // of the texts, unified; of a dry run only
};
// `text` came from `text_name`, which is named where it cannot be read. A missing notebook is
// started.
absl::StatusOr<FileApplied> ApplyToFile(const std::string& path, std::string text,
                                        const std::string& text_name,
                                        const FileApplyOptions& options);
// "2 cells changed, 1 added, 0 removed", and a line for each that looks like a marker.
std::string Summary(const Applied& applied);

// A missing notebook is started by an insert.
absl::StatusOr<ActionDetails> EditInFile(const std::string& path, const CellAddress& cell,
                                         const std::string& source, const EditOptions& options,
                                         const SaveOptions& save);
absl::StatusOr<ActionDetails> InsertIntoFile(const std::string& path, const CellAddress& cell,
                                             CellType type, const std::string& source,
                                             const SaveOptions& save);
absl::StatusOr<ActionDetails> DeleteFromFile(const std::string& path, const CellAddress& cell,
                                             const SaveOptions& save);

// AlreadyExists when it does.
absl::Status NewFile(const std::string& path);
absl::Status ClearFile(const std::string& path, const SaveOptions& save);

bool IsNotebookPath(std::string path);

// From a notebook to a script or back, as the names say. A notebook that is there gets the cells of
// the script; a script that is there is replaced if that is forced.
struct ConvertOptions {
  bool keep_outputs = false;
  bool force = false;
};
absl::Status ConvertFile(const std::string& from, const std::string& to,
                         const ConvertOptions& options);
// The script of a notebook.
absl::StatusOr<std::string> ScriptOfFile(const std::string& path);

}  // namespace cellar::notebook
