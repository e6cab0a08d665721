// What each subcommand of `cellar notebook` does, given its arguments: reads, edits and saves by
// means of notebook/ and reports on stdout. Parses no argument lists.
#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"

namespace cellar::host {

// The arguments of all subcommands; each uses the ones it has.
struct NotebookArguments {
  std::string file;
  std::string other_file;
  std::string cell;  // an index or an id
  std::string lines;
  std::string base;
  std::string source;
  std::string source_file;
  std::string type;
  bool has_source = false;
  bool raw = false;
  bool outputs = false;
  bool hash = false;
  bool page = false;
  bool keep_outputs = false;
  bool dry_run = false;
  bool json = false;
  bool force = false;
};

// Done, failed on the file, or `misused`: asked for something that no file could give.
struct NotebookOutcome {
  NotebookOutcome(absl::Status status, bool misused = false)
      : status(std::move(status)), misused(misused) {}

  absl::Status status;
  bool misused;
};

NotebookOutcome ShowNotebook(const NotebookArguments& arguments);
NotebookOutcome ApplyNotebook(const NotebookArguments& arguments);
NotebookOutcome EditNotebook(const NotebookArguments& arguments);
NotebookOutcome InsertIntoNotebook(const NotebookArguments& arguments);
NotebookOutcome DeleteFromNotebook(const NotebookArguments& arguments);
NotebookOutcome NewNotebook(const NotebookArguments& arguments);
NotebookOutcome ClearNotebook(const NotebookArguments& arguments);
NotebookOutcome ConvertNotebook(const NotebookArguments& arguments);

}  // namespace cellar::host
