// Runs cells of a notebook in a session, one after the other, and has the file written as they end.
// Does not find the session and does not choose the cells.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "host/base/event_loop.h"
#include "host/eval/call_observer.h"
#include "host/execute/cell_recorder.h"
#include "host/execute/executed_document.h"
#include "host/execute/notebook_saver.h"
#include "host/session/session.h"

namespace cellar::host {

struct NotebookRunOptions {
  std::vector<size_t> cells;  // in the order they are to run
  absl::Duration timeout;     // of inactivity, for each cell; zero = none
  std::string clamp_note;     // see CallCell::clamp_note; in the result of each cell
  // A cell that fails does not end the run, unless its worker has died.
  bool allow_errors = false;
  Retry retry = Retry::kNever;
};

struct NotebookRunResult {
  size_t cells_run = 0;
  size_t cells_failed = 0;   // without those that are tagged raises-exception
  bool interrupted = false;  // by Cancel(), or by others on the session
  // By the worker's death, which ended the run; false when a snapshot has brought some of it back.
  bool state_lost = false;
  absl::Status stopped;  // why the next cell could not be run, when others had
};

// Lives on the loop's thread, until `done` is called or it is destroyed while no cell runs. Session
// and observer outlive it. To the observer, which must not block, a cell is its index in the
// notebook; what earlier cells have started is told also while no cell runs.
class NotebookRunner : private CellObserver {
 public:
  // Not OK: no cell could be run. That the file could not be written is told by saved().
  using DoneCallback = absl::AnyInvocable<void(absl::Status)>;

  NotebookRunner(EventLoop& loop, Session& session, notebook::Document document, SaveTarget target,
                 NotebookRunOptions options, CallObserver& observer, DoneCallback done);
  ~NotebookRunner() override;

  void Start();
  // Interrupts the running cell and lets no other start. A second call kills the running cell.
  void Cancel();
  // Saves what there is, with the outputs so far of a cell that runs, without the loop: for a
  // program that is told to end, and for what exit handlers print when the session is closed.
  absl::Status SaveNow();

  // Tells another of the cell that runs, if one does: that it has started, and what it has shown.
  void Recount(CallObserver& newcomer) const;

  // As it stands.
  const NotebookRunResult& result() const { return result_; }
  // Of the last save that has ended.
  const absl::Status& saved() const { return saver_.status(); }
  // The file that is written, see NotebookSaver.
  const std::string& path() const { return saver_.path(); }

 private:
  // A cell that has run, and may be changed later: the last one, and those with display ids.
  struct RunCell {
    CellRecorder recorder;
    CellRecord record;  // without the outputs
    std::string artifact;
  };

  void OnText(Stream stream, std::string_view text) override;
  void OnDisplay(const wire::Display& display) override;
  void OnBackgroundText(Stream stream, std::string_view text) override;
  // The outcome of the cell brings it too, for the file.
  void OnBackgroundDisplay(const wire::Display& display) override {
    observer_.OnBackgroundDisplay(display);
  }

  void Next();
  void OnOutcome(absl::StatusOr<CellOutcome> outcome);
  void Refuse(const absl::Status& status);
  bool IsFailure(const CellOutcome& outcome) const;
  void UpdateShown(const std::string& display_id, const std::vector<wire::MimeEntry>& data,
                   const std::string& metadata);
  void Put(size_t cell);
  void PutUpdated();
  void Finish();

  Session& session_;
  ExecutedDocument document_;
  NotebookRunOptions options_;
  CallObserver& observer_;
  DoneCallback done_;
  NotebookSaver saver_;

  std::map<size_t, RunCell> run_;  // by cell
  std::set<size_t> updated_;       // cells above the running one whose displays it has updated
  size_t place_ = 0;               // in options_.cells, of the cell that runs or is next
  size_t current_ = 0;             // the cell that runs, or ran last
  bool cell_runs_ = false;
  NotebookRunResult result_;
};

}  // namespace cellar::host
