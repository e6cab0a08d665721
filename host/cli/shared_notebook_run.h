// `cellar notebook run --session`: a notebook run on a session of the daemon, shown as a run in a
// host of one's own is.
#pragma once

#include <string>
#include <vector>

#include "host/execute/prepared_run.h"

namespace cellar::host {

struct SharedNotebookRun {
  NotebookRunRequest request;           // without its parameters, which are
  std::vector<std::string> parameters;  // name=value
  std::string session;
  std::string interpreter;  // asked for; or empty
};

// The exit code.
int RunSharedNotebook(const SharedNotebookRun& run);

}  // namespace cellar::host
