// What each subcommand of `cellar notebook` does, given its arguments: reads, edits and saves by
// means of notebook/ and reports on stdout. Parses no argument lists.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"

namespace cellar::host {

// The arguments of all subcommands; each uses the ones it has.
struct NotebookArguments {
  std::string file;
  std::string other_file;
  std::string cell;  // an index or an id
  std::string lines;
  std::string base;
  std::optional<std::string> source;
  std::string source_file;
  std::string type;
  bool raw = false;
  bool outputs = false;
  bool hash = false;
  bool page = false;
  bool keep_outputs = false;
  bool dry_run = false;
  bool json = false;
  bool force = false;
};

absl::Status ShowNotebook(const NotebookArguments& arguments);
absl::Status ApplyNotebook(const NotebookArguments& arguments);
absl::Status EditNotebook(const NotebookArguments& arguments);
absl::Status InsertIntoNotebook(const NotebookArguments& arguments);
absl::Status DeleteFromNotebook(const NotebookArguments& arguments);
absl::Status NewNotebook(const NotebookArguments& arguments);
absl::Status ClearNotebook(const NotebookArguments& arguments);
absl::Status ConvertNotebook(const NotebookArguments& arguments);

}  // namespace cellar::host
