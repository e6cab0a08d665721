#include "host/cli/shared_notebook_run.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/base/clock.h"
#include "host/base/status.h"
#include "host/cli/notebook_progress.h"
#include "host/cli/opening.h"
#include "host/console/complain.h"
#include "host/console/exit_codes.h"
#include "host/console/foreground.h"
#include "host/runtime/environment.h"
#include "host/serve/call_frames.h"
#include "host/serve/dial.h"
#include "host/serve/frame_fields.h"
#include "host/serve/link.h"

namespace cellar::host {
namespace {

using nlohmann::ordered_json;
using notebook::CellAddress;

// What would be an index here is one there.
ordered_json JsonOf(const CellAddress& cell) {
  const std::optional<size_t> index = notebook::IndexFrom(cell.text);
  return index ? ordered_json(*index) : ordered_json(cell.text);
}

absl::StatusOr<ordered_json> RequestFor(const SharedNotebookRun& run, const Environment& env) {
  std::error_code error;
  const std::string here = std::filesystem::current_path(error).string();
  if (error) return ErrnoStatus(error.value(), "finding the directory");
  CELLAR_ASSIGN_OR_RETURN(const SessionOpening opening,
                          OpeningIn(FolderOf(run.request.file), env, /*interpreter=*/""));
  ordered_json request = {
      {"type", "notebook.run"},       {"session", run.session},
      {"by", ThisClient("notebook")}, {"cwd", here},
      {"file", run.request.file},     {"allow_errors", run.request.allow_errors},
      {"clear", run.request.clear},   {"timeout", absl::ToDoubleSeconds(run.request.timeout)}};
  if (!run.request.output.empty()) request["output"] = run.request.output;
  const CellSelection& selection = run.request.selection;
  for (const CellAddress& cell : selection.cells) request["cells"].push_back(JsonOf(cell));
  if (selection.from) request["from"] = JsonOf(*selection.from);
  if (!run.parameters.empty()) request["parameters"] = run.parameters;
  if (!run.interpreter.empty()) request["interpreter"] = run.interpreter;
  AddOpening(opening, request);
  return request;
}

// The run as its frames tell of it.
class FollowedRun {
 public:
  FollowedRun(Foreground& foreground, const UniqueFd& socket)
      : foreground_(foreground), link_(foreground.loop(), socket, {}) {}

  // The last frame. Cancelled when a signal came first.
  absl::StatusOr<ordered_json> Follow(ordered_json request) {
    CELLAR_RETURN_IF_ERROR(foreground_.WatchSignals([this] { OnInterrupt(); },
                                                    [this] {
                                                      if (progress_) progress_->OnResize();
                                                    }));
    id_ = link_.Ask(std::move(request), [this](const ordered_json& frame) { OnFrame(frame); });
    foreground_.loop().Run();
    progress_.reset();
    return std::move(done_);
  }

  // The program's exit code if a signal has cut it short, or 0.
  int exit_code() const { return gave_up_ ? kExitInterrupted : foreground_.exit_code(); }

 private:
  // The first Ctrl-C interrupts the cell, the second kills it, the third does not wait for that.
  void OnInterrupt() {
    if (++interrupts_ <= 2) {
      link_.Cancel(id_);
    } else {
      gave_up_ = true;
      foreground_.loop().Stop();
    }
  }

  void OnFrame(const ordered_json& frame) {
    const std::string type = TextIn(frame, "type");
    if (type == "done") {
      done_ = frame;
      foreground_.loop().Stop();
    } else if (type == "plan") {
      std::vector<size_t> cells;
      for (const ordered_json& cell : frame.value("cells", ordered_json::array())) {
        cells.push_back(cell.is_number_unsigned() ? cell.get<size_t>() : 0);
      }
      progress_.emplace(foreground_.loop(), cells);
    } else if (progress_) {
      TellOf(frame, *progress_);
    }
  }

  Foreground& foreground_;
  Link link_;
  std::string id_;
  std::optional<NotebookProgress> progress_;
  int interrupts_ = 0;
  bool gave_up_ = false;
  absl::StatusOr<ordered_json> done_ = absl::CancelledError("");
};

int Report(const ordered_json& done, const std::string& expected_file, absl::Time started) {
  if (absl::Status refusal = RefusalIn(done); !refusal.ok()) return ComplainOf(refusal);
  const std::string file = TextIn(done, "file");
  const bool is_elsewhere = file != expected_file;
  if (const std::string why = TextIn(done, "stopped"); !why.empty()) Complain(why);
  if (const std::string why = TextIn(done, "not_saved"); !why.empty()) {
    Complain(why);
  } else if (is_elsewhere) {
    Complain(WrittenElsewhere(expected_file, file));
  }
  const std::string status = TextIn(done, "status");
  const NotebookRunResult result = {
      .cells_run = static_cast<size_t>(NumberIn(done, "cells_run")),
      .cells_failed = static_cast<size_t>(NumberIn(done, "cells_failed")),
      .interrupted = status == "cancelled"};
  std::printf("%s\n", SummaryOf(result, MonotonicNow() - started).c_str());
  if (result.interrupted) return kExitInterrupted;
  return status == "ok" && !is_elsewhere ? kExitFine : kExitFailed;
}

absl::StatusOr<int> Run(const SharedNotebookRun& run) {
  const Environment env = CurrentEnvironment();
  CELLAR_ASSIGN_OR_RETURN(const ordered_json request, RequestFor(run, env));
  CELLAR_ASSIGN_OR_RETURN(std::unique_ptr<Client> client, DialOrStartDaemon(env));
  CELLAR_ASSIGN_OR_RETURN(std::unique_ptr<Foreground> foreground, Foreground::Create());
  const absl::Time started = MonotonicNow();
  FollowedRun followed(*foreground, client->socket());
  absl::StatusOr<ordered_json> done = followed.Follow(request);
  if (followed.exit_code() != 0) return followed.exit_code();
  if (!done.ok()) return done.status();
  const std::string& file = run.request.output.empty() ? run.request.file : run.request.output;
  return Report(*done, file[0] == '/' ? file : absl::StrCat(TextIn(request, "cwd"), "/", file),
                started);
}

}  // namespace

int RunSharedNotebook(const SharedNotebookRun& run) {
  absl::StatusOr<int> exit_code = Run(run);
  return exit_code.ok() ? *exit_code : ComplainOf(exit_code.status());
}

}  // namespace cellar::host
