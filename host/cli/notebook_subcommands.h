// What each subcommand of `cellar notebook` does, given its arguments: reads, edits and saves by
// means of notebook/ and reports on stdout. Parses no argument lists.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "notebook/file_actions.h"

namespace cellar::host {

struct ShowArguments {
  std::string file;
  std::string lines;  // as it was given; empty: all
  bool raw = false;
  bool outputs = false;
  bool diff = false;
  bool hash = false;
  bool page = false;
};
absl::Status ShowNotebook(const ShowArguments& arguments);

struct ApplyArguments {
  std::string file;
  std::string text_file;  // empty: stdin
  notebook::FileApplyOptions options;
};
absl::Status ApplyNotebook(const ApplyArguments& arguments);

// What is put into a cell.
struct CellContent {
  std::optional<std::string> source;
  std::string source_file;  // without a source; empty: stdin
  std::string type;         // empty: as it is, of a new cell code
};

struct EditArguments {
  std::string file;
  std::string cell;  // an index or an id
  CellContent content;
  bool keep_outputs = false;
  bool json = false;
  notebook::SaveOptions save;
};
absl::Status EditNotebook(const EditArguments& arguments);

struct InsertArguments {
  std::string file;
  std::string cell;  // the index of the new one, or the id of the one behind it
  CellContent content;
  bool json = false;
  notebook::SaveOptions save;
};
absl::Status InsertIntoNotebook(const InsertArguments& arguments);

struct DeleteArguments {
  std::string file;
  std::string cell;  // an index or an id
  bool json = false;
  notebook::SaveOptions save;
};
absl::Status DeleteFromNotebook(const DeleteArguments& arguments);

struct NewArguments {
  std::string file;
};
absl::Status NewNotebook(const NewArguments& arguments);

struct ClearArguments {
  std::string file;
  notebook::SaveOptions save;
};
absl::Status ClearNotebook(const ClearArguments& arguments);

struct ConvertArguments {
  std::string file;
  std::string to;  // "-" is stdout
  notebook::ConvertOptions options;
};
absl::Status ConvertNotebook(const ConvertArguments& arguments);

}  // namespace cellar::host
