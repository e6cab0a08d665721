// The requests about notebooks, read: what is to be done with a file, or run. The same names and
// functions as those of `cellar notebook`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/execute/prepared_run.h"
#include "host/session/opening.h"
#include "nlohmann/json_fwd.hpp"

namespace cellar::host {

class Frame;

// Something to do with files, on a thread that may block: adds to the frame what there is to say.
struct NotebookFileRequest {
  std::vector<std::string> files;
  std::function<absl::Status(Frame& frame)> act;
};

struct NotebookSessionRun {
  NotebookRunRequest run;
  std::string session;      // empty: one of its own, closed when the run has ended
  std::string interpreter;  // the session must have it; empty: any
  SessionOpening opening;   // without a directory: the notebook's
  std::string owner;
  std::string by = "another client";  // who runs it, for those who watch the session
  bool stream = true;
};

// To be called on that thread before `act`: fails for what exists and is no file. A pipe would keep
// the thread for ever.
absl::Status CheckNotebookFiles(const std::vector<std::string>& files);

absl::StatusOr<NotebookFileRequest> ReadNotebookShow(nlohmann::json& request);
absl::StatusOr<NotebookFileRequest> ReadNotebookApply(nlohmann::json& request);
absl::StatusOr<NotebookFileRequest> ReadNotebookEdit(nlohmann::json& request);
absl::StatusOr<NotebookFileRequest> ReadNotebookInsert(nlohmann::json& request);
absl::StatusOr<NotebookFileRequest> ReadNotebookDelete(nlohmann::json& request);
absl::StatusOr<NotebookFileRequest> ReadNotebookNew(nlohmann::json& request);
absl::StatusOr<NotebookFileRequest> ReadNotebookClear(nlohmann::json& request);
absl::StatusOr<NotebookFileRequest> ReadNotebookConvert(nlohmann::json& request);
absl::StatusOr<NotebookSessionRun> ReadNotebookRun(nlohmann::json& request);

}  // namespace cellar::host
