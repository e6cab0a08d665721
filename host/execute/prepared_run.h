// A notebook made ready to run: read, its parameters put in, its cells chosen. Runs nothing; may
// block as long as the disk does.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "host/execute/notebook_runner.h"
#include "host/execute/notebook_saver.h"
#include "host/execute/parameters.h"
#include "host/execute/run_plan.h"
#include "notebook/document.h"

namespace cellar::host {

struct NotebookRunRequest {
  std::string file;
  std::string output;  // written in the place of `file`; or empty
  CellSelection selection;
  std::vector<Parameter> parameters;
  absl::Duration timeout;     // of inactivity, for each cell; zero = none
  std::string clamp_note;     // see CallCell::clamp_note
  bool allow_errors = false;  // go on after a cell that fails
  bool clear = false;         // first remove all outputs, also of cells that are not run
};

struct PreparedRun {
  notebook::Document document;
  SaveTarget target;
  NotebookRunOptions options;
};

// Errors name the file.
absl::StatusOr<PreparedRun> PrepareRun(const NotebookRunRequest& request);

// Where the cells find the files beside the notebook, as in Jupyter.
std::string FolderOf(const std::string& file);

}  // namespace cellar::host
