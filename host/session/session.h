// A session: a namespace that lasts, served by one worker at a time. Runs cells one after the
// other, watches their time, interrupts them, and says what a worker's death means for the state.
//
// Lives on the loop's thread. Callbacks may call back into the session, but may destroy it only
// from a posted task.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "host/base/event_loop.h"
#include "host/base/lifeline.h"
#include "host/bridge/bridge.h"
#include "host/session/background_output.h"
#include "host/session/cell_request.h"
#include "host/session/death_streak.h"
#include "host/session/jobs.h"
#include "host/session/outcome.h"
#include "host/session/output_log.h"
#include "host/session/pending_queries.h"
#include "host/session/pending_value.h"
#include "host/session/running_cell.h"
#include "host/session/session_variables.h"
#include "host/session/snapshots.h"
#include "host/session/untold_state.h"
#include "host/worker/template_pool.h"

namespace cellar::host {

// For a worker to answer Set() or Get(), which may be of large values.
inline constexpr absl::Duration kValueLimit = absl::Seconds(30);

struct SessionOptions {
  std::string id;  // as a BridgeProvider sees it
  TemplateOptions runtime;
  std::string cwd;
  std::vector<wire::EnvironmentEntry> environment;  // on top of the template's
  std::vector<std::string> sys_path;
  absl::Duration interrupt_grace = kInterruptGrace;
  uint64_t memory_cap = 0;  // bytes; 0 = none
  uint64_t open_files = 0;  // soft limit of the worker; 0 = the host's
  SinkOptions output;
  // Why there is no state where a client could expect some, for the first outcome; or empty.
  std::string fresh_reason;
  // For the first outcome: what the user should know of how the session was opened.
  std::vector<std::string> notices;
  // Asked when a worker cannot be started for want of memory, processes or descriptors: it frees
  // what it can and calls back, and the start is tried once more. Or null.
  std::function<void(EventLoop::Task)> relieve;
  BridgeProvider* bridge = nullptr;  // answers the calls that cells make; outlives the session
  absl::Duration bridge_limit = kBridgeLimit;
  absl::Duration value_limit = kValueLimit;
  SnapshotOptions snapshots;
  // Shared by all sessions of the host, and outlives them; null: the session counts alone.
  SnapshotAccount* snapshot_account = nullptr;
};

// Why a cell that is run on behalf of a waiting one was not.
inline constexpr char kSessionHeld[] = "session is held by the cell that waits for you";

class Session : private WorkerListener, private BridgeListener {
 public:
  Session(EventLoop& loop, TemplatePool& templates, OutputStorage storage, SessionOptions options);
  ~Session() override;

  // Starts the worker ahead of the first cell.
  absl::Status Prepare();
  // Runs after everything that was asked for before it.
  void Run(CellRequest request, OutcomeCallback done);
  // For whoever answers that bridge call: runs now, inside the wait of the cell that made it. Fails
  // at once with kSessionHeld when that cannot be: only the main thread of the running cell, in a
  // call that blocks it, can run another cell, and not one that awaits. Never waits for the caller.
  void RunNested(uint64_t call, CellRequest request, OutcomeCallback done);
  // The call inside whose wait a cell could run now; nothing when the main thread waits for none.
  std::optional<uint64_t> WaitingCall() const;
  // Interrupts the cell that runs inside the wait for that call, and what is nested in it.
  void InterruptNested(uint64_t call);
  // The number of the cell that made that call and waits for it; nothing when none does.
  std::optional<uint32_t> CellThatCalls(uint64_t call) const {
    return bridge_ != nullptr ? bridge_->CellThatCalls(call) : std::nullopt;
  }
  void Set(std::string name, SessionValue value, ValueCallback done);
  // Nothing when the name is not bound.
  void Get(std::string name, ValueCallback done);

  // A fresh namespace for what is asked for after it; a session that has run nothing has one, so
  // resets that come together are one. It also ends the refusal after repeated deaths. `is_news`:
  // tell whoever runs the next cell; they may not know. Same for Rewind.
  void Reset(ResetCallback done, bool is_news = false);

  // Asked at once, also while a cell runs; `request` of the query is filled in here.
  void Query(wire::Query query, QueryCallback done);

  // Ends the running cell and goes back to before `cell`, which a kept snapshot must stand before;
  // without one, to the newest snapshot older than the last cell's end. What waits in the queue
  // runs after it.
  void Rewind(std::optional<uint32_t> cell, RewindCallback done, bool is_news = false);
  // Another session that goes on from here, or from a snapshot; after everything asked for before.
  void Branch(BranchOptions options, BranchedCallback done);
  SnapshotStatus snapshots() const { return snapshots_.status(); }

  // Sees background output while no cell runs; outlives the session, or is taken away with null.
  void ObserveBackground(CellObserver* observer) { background_.Observe(observer); }
  // The background output that no outcome has carried yet.
  void RecountBackground(CellObserver& observer) const { background_.Recount(observer); }
  std::vector<CellOutput> TakeBackground() { return background_.Take(); }
  // It is for none of the outcomes until it is brought back.
  void SetBackgroundAside() { background_.SetAside(); }
  void BringBackgroundBack() { background_.BringBack(); }

  // An observer that wanted a pause can take more now.
  void GoOn() { OnStorageProgress(); }

  // Notices for whoever runs the next cell, in the place of those that nobody was told.
  void Note(std::vector<std::string> notices) { notices_ = std::move(notices); }

  // Why there is nothing where a client could expect something, if no outcome has told it yet.
  const std::string& untold_loss() const { return untold_.why_empty(); }

  // Tells the cells what the provider offers now.
  void RenewOffer();

  // Interrupts the running cell and what is nested in it, or the one that is about to run. A second
  // call while the first is under way kills. False when there is nothing to interrupt.
  bool Interrupt();
  // A cell runs, or is about to: it may have to wait for a snapshot, for memory or for a branch.
  bool busy() const { return cells_.outer != nullptr || std::ranges::any_of(queue_, IsCell); }
  // The number of the cell that runs inside the wait for that call, or of the one that no other
  // waits for; nothing when there is none.
  std::optional<uint32_t> RunningCellInside(uint64_t call) const;
  std::optional<uint32_t> running_cell() const { return RunningCellInside(0); }
  // That cell as far as it has come; nothing when there is none.
  std::optional<CellOutcome> OutcomeSoFar(uint64_t call) const;

  // Kills the worker; `reason` is what the outcome says of it: "used 600 MiB, ...".
  void KillWorker(std::string reason);
  // As SessionOptions::relieve.
  void SetRelieve(std::function<void(EventLoop::Task)> relieve) {
    options_.relieve = std::move(relieve);
  }
  int worker_pid() const { return worker_ != nullptr ? worker_->pid() : -1; }
  uint64_t memory_cap() const { return options_.memory_cap; }
  size_t output_budget() const { return options_.output.budget_bytes; }
  uint64_t cells_run() const { return cells_run_; }
  // The execution count that the next cell gets.
  uint32_t next_cell() const { return worker_ != nullptr || restore_ ? next_cell_ : 1; }

  // Ends the worker: exit handlers have a second, a running cell is killed. `done` is called when
  // it is gone; what was asked for and has not run fails.
  void Close(absl::AnyInvocable<void()> done);

 private:
  // For what cells have registered to run in a copy when it begins.
  static constexpr absl::Duration kCopyHooksLimit = absl::Milliseconds(300);

  // What is left of the state after a death.
  struct Recovery {
    StateAfter state;
    std::string detail;   // what the outcome says of it
    bool is_before_cell;  // the state is that of directly before the cell that was running
  };
  // From the end of a worker to the moment a copy of the snapshot goes on.
  struct Restore {
    const Snapshot* from;
    KeptSnapshot moment;
    WorkerExit exit;  // of the worker that is being replaced
    EventLoop::TimerId limit_timer;
  };
  struct RewindRequest {
    const Snapshot* to;
    RewindCallback done;
    bool is_news;
  };

  // WorkerListener.
  void OnWorkerReady() override;
  void OnText(uint32_t cell, wire::StreamId stream, std::string_view text) override;
  void OnDisplay(wire::Display display) override;
  void OnError(wire::Error error) override;
  void OnNotice(wire::Notice notice) override;
  void OnDone(wire::Done done) override;
  void OnValue(wire::Value value) override;
  void OnQueryAnswer(wire::QueryAnswer answer) override { queries_.Answer(std::move(answer)); }
  void OnOpenLine(UniqueFd socket, bool of_main_thread) override;
  void OnWorkerExit(WorkerExit exit) override;

  // BridgeListener.
  void OnCallComes() override;
  void OnCallsChanged(uint32_t cell) override;
  void OnWithdraw(uint64_t call) override;
  void OnOffer(const wire::BridgeOffer& offer) override;

  // The queue, and a cell from its turn to its outcome: session.cc.
  void Enqueue(Job job);
  void Pump();
  bool IsOccupied() const;
  void Start(CellJob job);
  void Start(ValueJob job);
  void Start(ResetJob job);
  void Start(BranchJob job);
  bool Relieve(Job& job, const absl::Status& status);
  // The worker of all that comes next, in the place of the one there was.
  void Employ(std::unique_ptr<Worker> worker);
  // What the worker knows: the cells before this one.
  void StandBefore(uint32_t cell, bool had_cells, const Snapshot* copy_of);
  std::unique_ptr<RunningCell> MakeCell(CellJob job);
  void SendCell();
  void Settle(RunningCell& cell);
  void FinishCell(RunningCell& cell);
  void TellNotices(CellOutcome& outcome);
  void KillAfterGrace();
  void FinishReset();
  void FinishClose();

  // What comes of cells, and of what they have started: session_output.cc.
  CellObserver* BackgroundObserver() const;
  SinkOptions OutputOptions();
  void OnStorageProgress();

  // Calls to the host: session_bridge.cc.
  void ConnectBridge();
  // Fails the nested cells inside the wait for `call`; all of them without one.
  void RefuseNested(std::optional<uint64_t> call);

  // Cells that end before their time: session_interrupts.cc.
  void AskToEnd(RunningCell& cell);
  void Interrupt(RunningCell& cell);
  void KillUnready(RunningCell& cell);
  // Called when a nested cell has ended: goes on with an interrupt that was meant for all.
  void InterruptNextOuter();
  void RestartTimeout(RunningCell& cell);
  void OnTimeout(RunningCell& cell);
  void ExpectBegin();
  void ExpectBeginWithin(absl::Duration time);
  void MakeWay(RunningCell& cell);
  void TellNotBegun(RunningCell& cell);
  void EndUnsent(CellJob job);

  // The end of a worker: session_deaths.cc.
  void OnFailedStart(const WorkerExit& exit);
  void OnFailedCopy();
  void OnDeath(WorkerExit exit);
  // `again`: a copy has failed already.
  void RestoreOrLose(WorkerExit exit, bool again);
  // `restored`: what a snapshot has brought back; nothing when all is lost.
  void OnDeathInCell(WorkerExit exit, std::optional<Recovery> restored);
  void FinishAsDead(RunningCell& cell, WorkerExit exit, bool killed, const Recovery& recovery);
  Recovery Lose(const WorkerExit& exit);
  void DropWorker();
  bool WasDeadBefore(const RunningCell& cell, const WorkerExit& exit);
  bool DiedOfItsSnapshot();
  bool WasEndedOnPurpose() const;
  CellJob TakeBack();

  // The way back to a snapshot: session_snapshots.cc.
  void TakeSnapshotFirst(Job next);
  bool StartRestore(WorkerExit& exit, bool again);
  void FinishRestore();
  std::string DescribeRestored(const Restore& restore, uint32_t undone_end) const;
  void RestoreVariables();
  void AbandonRestoring();

  // Branches: session_branches.cc.
  void StartAsBranch(Session& source, const BranchOptions& options, BranchedCallback done);
  void FinishBranch(absl::Status status);

  Lifeline lifeline_;
  EventLoop& loop_;
  TemplatePool& templates_;
  OutputStorage storage_;
  SessionOptions options_;
  SessionVariables variables_;

  std::shared_ptr<Template> template_;  // that the worker is below
  std::unique_ptr<Worker> worker_;
  std::unique_ptr<Bridge> bridge_;  // of the worker
  bool worker_ready_ = false;
  bool template_was_ready_ = false;  // when the worker was asked for
  bool start_retried_ = false;
  uint32_t next_cell_ = 1;
  bool had_cells_ = false;   // of the worker: there is state to lose
  std::string kill_reason_;  // given to KillWorker
  EventLoop::TimerId begin_timer_ = 0;
  EventLoop::TimerId exit_timer_ = 0;  // of a worker that was told to leave

  std::deque<Job> queue_;
  RunningCells cells_;
  PendingValue value_;
  std::optional<ResetJob> resetting_;
  bool relieving_ = false;  // waits for what options_.relieve does
  bool relieved_ = false;   // since a worker last started
  PendingQueries queries_;
  uint64_t cells_run_ = 0;
  BackgroundOutput background_;

  bool told_opening_ = false;
  std::vector<std::string> notices_;  // for the next outcome
  UntoldState untold_;
  DeathStreak deaths_;

  Snapshots snapshots_;
  bool taking_snapshot_ = false;  // the next cell waits for it
  std::optional<Restore> restore_;
  // The snapshot that the worker is a copy of, until a cell has ended in it. May be gone: only to
  // be compared.
  const Snapshot* untried_ = nullptr;
  std::optional<RewindRequest> rewind_;
  BranchedCallback branched_;  // of a session that is still branching off from another
  EventLoop::TimerId branch_timer_ = 0;
  std::unique_ptr<Session> branching_;  // from this one

  bool closing_ = false;
  absl::AnyInvocable<void()> on_closed_;
};

}  // namespace cellar::host
