#include "host/session/session.h"

#include <filesystem>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/base/clock.h"
#include "host/base/startup_trace.h"
#include "host/output/spoken_duration.h"
#include "host/session/session_errors.h"

namespace cellar::host {
namespace {

// For exit handlers of a worker that is being closed.
constexpr absl::Duration kCloseGrace = absl::Seconds(1);
// The outcome of most cells comes within this time, and is then worth not going to sleep; also
// where the worker has to be woken first.
constexpr absl::Duration kQuickCell = absl::Microseconds(250);

}  // namespace

Session::Session(EventLoop& loop, TemplatePool& templates, OutputStorage storage,
                 SessionOptions options)
    : loop_(loop),
      templates_(templates),
      storage_(storage),
      options_(std::move(options)),
      variables_(options_.environment),
      value_(loop),
      queries_(loop),
      background_(storage_, OutputOptions()),
      untold_(options_.fresh_reason),
      snapshots_(loop, options_.snapshots, options_.snapshot_account) {}

Session::~Session() {
  lifeline_.Cut();
  loop_.Cancel(exit_timer_);
  loop_.Cancel(branch_timer_);
  loop_.Cancel(begin_timer_);
  if (restore_) loop_.Cancel(restore_->limit_timer);
}

absl::Status Session::Prepare() {
  if (worker_ != nullptr) return absl::OkStatus();
  CELLAR_RETURN_IF_ERROR(variables_.CheckRoomFor({}));
  CELLAR_ASSIGN_OR_RETURN(Template * source, templates_.Get(options_.runtime));
  wire::Setup setup = {.cwd = options_.cwd,
                       .environment = variables_.all(),
                       .sys_path = options_.sys_path,
                       .memory_cap = options_.memory_cap,
                       .open_files = options_.open_files};
  absl::StatusOr<std::unique_ptr<Worker>> worker = source->Fork(setup, *this);
  if (!worker.ok() && !source->alive() && source->ready()) {
    // It has died since anybody looked. What has started once starts again.
    CELLAR_ASSIGN_OR_RETURN(source, templates_.Get(options_.runtime));
    worker = source->Fork(setup, *this);
  }
  CELLAR_RETURN_IF_ERROR(worker.status());
  Employ(*std::move(worker));
  StandBefore(1, /*had_cells=*/false, /*copy_of=*/nullptr);
  template_ = source->shared_from_this();
  template_was_ready_ = source->ready().has_value();
  variables_.OnWorkerStart();
  snapshots_.Clear();
  return absl::OkStatus();
}

void Session::Employ(std::unique_ptr<Worker> worker) {
  if (worker_ != nullptr) DropWorker();
  worker_ = std::move(worker);
  ConnectBridge();
}

void Session::StandBefore(uint32_t cell, bool had_cells, const Snapshot* copy_of) {
  next_cell_ = cell;
  had_cells_ = had_cells;
  untried_ = copy_of;
}

void Session::Run(CellRequest request, OutcomeCallback done) {
  if (absl::Status fits = CheckFits(request.code.size()); !fits.ok()) return done(fits);
  if (absl::Status room = variables_.CheckRoomFor(request.environment); !room.ok()) {
    return done(room);
  }
  Enqueue(CellJob{std::move(request), std::move(done)});
}

void Session::Set(std::string name, SessionValue value, ValueCallback done) {
  if (absl::Status fits = CheckFits(name.size() + value.data.size()); !fits.ok()) return done(fits);
  wire::Set message = {.name = std::move(name),
                       .kind = value.is_json ? wire::ValueKind::kJson : wire::ValueKind::kBytes,
                       .data = std::move(value.data)};
  Enqueue(ValueJob{std::move(message), std::move(done)});
}

void Session::Get(std::string name, ValueCallback done) {
  if (absl::Status fits = CheckFits(name.size()); !fits.ok()) return done(fits);
  Enqueue(ValueJob{wire::Get{.name = std::move(name)}, std::move(done)});
}

void Session::Reset(ResetCallback done, bool is_news) {
  Enqueue(ResetJob{std::move(done), is_news});
}

void Session::Query(wire::Query query, QueryCallback done) {
  if (closing_) return done(absl::FailedPreconditionError("the session is closed"));
  if (queries_.stalled()) return done(PendingQueries::Busy());
  if (absl::Status fits = CheckFits(query.text.size()); !fits.ok()) return done(fits);
  if (absl::Status status = Prepare(); !status.ok()) return done(status);
  query.request = queries_.Add(busy() ? kBusyQueryLimit : kIdleQueryLimit, std::move(done));
  worker_->Send(query);
}

void Session::Enqueue(Job job) {
  if (closing_) return Fail(std::move(job), SessionClosed());
  queue_.push_back(std::move(job));
  Pump();
}

void Session::Pump() {
  if (IsOccupied()) return;
  if (queue_.empty()) {
    if (worker_ready_) snapshots_.OnIdle(*worker_, next_cell_);
    return;
  }
  Job job = std::move(queue_.front());
  queue_.pop_front();
  absl::Status status;
  if (!std::holds_alternative<ResetJob>(job)) {
    status = deaths_.Check();
    if (status.ok()) status = Prepare();
  }
  if (!status.ok()) {
    if (Relieve(job, status)) return;
    Fail(std::move(job), status);
    return Pump();
  }
  if (std::holds_alternative<CellJob>(job) && worker_ready_ && snapshots_.WantedBeforeNextCell()) {
    return TakeSnapshotFirst(std::move(job));
  }
  if (worker_ != nullptr) snapshots_.OnBusy(*worker_);
  std::visit([this](auto&& ready) { Start(std::move(ready)); }, std::move(job));
}

// What is next has to wait; who ends that calls Pump().
bool Session::IsOccupied() const {
  const bool has_job =
      cells_.outer != nullptr || value_.pending() || resetting_ || branching_ != nullptr;
  const bool worker_is_replaced = restore_ || rewind_;
  return has_job || worker_is_replaced || taking_snapshot_ || relieving_ || closing_;
}

void Session::Start(CellJob job) {
  if (job.interrupted) return EndUnsent(std::move(job));
  variables_.KeepSince(snapshots_.OldestCell().value_or(next_cell_));
  variables_.Set(job.request.environment, next_cell_);
  cells_.outer = MakeCell(std::move(job));
  cells_.outer->waits_for_snapshot = !worker_ready_ && snapshots_.WantedBeforeNextCell();
  if (cells_.outer->waits_for_snapshot) {
    cells_.outer->outcome.execution_count = next_cell_;  // should it be killed before it is sent
    ExpectBegin();
  } else {
    SendCell();
  }
}

void Session::SendCell() {
  RunningCell& cell = *cells_.outer;
  cell.outcome.execution_count = next_cell_++;
  if (worker_ready_) RestartTimeout(cell);
  if (!cell.request.cwd.empty() || !cell.request.environment.empty()) {
    worker_->Send(wire::Enter{.cwd = cell.request.cwd, .environment = cell.request.environment});
  }
  worker_->Send(wire::Execute{.cell = cell.number(), .code = cell.request.code});
  worker_->ExpectWithin(kQuickCell);
  ExpectBegin();
}

std::unique_ptr<RunningCell> Session::MakeCell(CellJob job) {
  ++cells_run_;
  OutputStorage storage = storage_;
  if (std::optional<std::string> directory = variables_.artifacts_directory()) {
    const std::string& cwd = job.request.cwd.empty() ? options_.cwd : job.request.cwd;
    storage.artifacts = ArtifactStore((std::filesystem::path(cwd) / *directory).native());
  }
  auto log = std::make_unique<OutputLog>(storage, OutputOptions(), job.request.result_room);
  auto cell = std::make_unique<RunningCell>(loop_, std::move(job.request), std::move(job.done),
                                            std::move(log));
  cell->kept_waiting = job.kept_waiting;
  return cell;
}

void Session::Start(ResetJob job) {
  const bool had_state = had_cells_ || !untold_.why_empty().empty();
  untold_ = UntoldState(job.is_news && had_state ? "the session was reset" : "");
  resetting_ = std::move(job);
  deaths_.End();
  if (worker_ == nullptr || !had_cells_) return FinishReset();
  worker_->Send(wire::Exit{});
  KillAfterGrace();
}

void Session::KillAfterGrace() {
  loop_.Cancel(exit_timer_);
  exit_timer_ = loop_.After(kCloseGrace, [this] {
    if (worker_ != nullptr) worker_->Kill();
  });
}

void Session::FinishReset() {
  loop_.Cancel(exit_timer_);
  ResetJob job = *std::exchange(resetting_, std::nullopt);
  job.done(absl::OkStatus());
  Pump();
}

// True when the job waits for another attempt.
bool Session::Relieve(Job& job, const absl::Status& status) {
  if (!absl::IsResourceExhausted(status) || !options_.relieve || std::exchange(relieved_, true)) {
    return false;
  }
  queue_.push_front(std::move(job));
  relieving_ = true;
  options_.relieve([this, alive = lifeline_.watch()] {
    if (!*alive) return;
    relieving_ = false;
    Pump();
  });
  return true;
}

void Session::OnWorkerReady() {
  TraceStartup("worker ready");
  start_retried_ = false;
  relieved_ = false;
  worker_ready_ = true;
  if (restore_) return FinishRestore();
  if (branched_) return FinishBranch(absl::OkStatus());
  if (!cells_.OuterRuns()) return;
  RunningCell& cell = *cells_.outer;
  if (cell.waits_for_snapshot) {
    if (closing_ || cell.killed) return;  // the worker's end is its own
    queue_.push_front(TakeBack());
    return Pump();
  }
  // The first cell was waiting in the channel; its time begins now.
  cell.started = MonotonicNow();
  RestartTimeout(cell);
  if (cell.interrupt_when_ready && !cell.killed) Interrupt(cell);
}

void Session::OnDone(wire::Done done) {
  RunningCell* cell = cells_.Find(done.cell);
  if (cell == nullptr) return;
  // Its worker is being killed all the same: the death is its end, or the state would be said to be
  // kept.
  if (cell->killed || (cell->ladder != nullptr && cell->ladder->killed())) return;
  if (cell == cells_.outer.get()) RefuseNested(std::nullopt);
  if (done.status == wire::DoneStatus::kHeld && cell->parent != 0) {
    return RefuseNested(cell->parent);
  }
  CellOutcome& outcome = cell->outcome;
  outcome.stdin_requested = done.stdin_requested;
  had_cells_ = true;
  untried_ = nullptr;
  if (cell == cells_.outer.get()) snapshots_.OnCellDone(MonotonicNow() - cell->started);
  deaths_.End();
  switch (done.status) {
    case wire::DoneStatus::kOk:  // also when it was interrupted and made something of it
      break;
    case wire::DoneStatus::kInterrupted:
      outcome.status = CellStatus::kCancelled;
      if (cell->had_not_begun) TellNotBegun(*cell);
      break;
    default:
      outcome.status = CellStatus::kError;
      break;
  }
  if (outcome.error && outcome.error->ename == "MemoryError" && options_.memory_cap > 0) {
    outcome.notices.push_back("the session may use " + std::to_string(options_.memory_cap >> 20) +
                              " MiB of memory (memory_cap_mb)");
  }
  untold_.TellAfter(outcome);
  // A cell that ran inside the wait of another is told too, but the other is yet to be.
  if (cell == cells_.outer.get()) untold_ = {};
  if (outcome.status == CellStatus::kCancelled || cell->ladder != nullptr) {
    // What the cell found comes first, what became of it second.
    absl::StrAppend(&outcome.state_detail, outcome.state_detail.empty() ? "" : "; ",
                    "interrupted after ", SpokenDuration(MonotonicNow() - cell->started),
                    ", state kept");
  }
  Settle(*cell);
  InterruptNextOuter();
}

// The cell has ended; its outcome is complete but for what still goes to the disk.
void Session::Settle(RunningCell& cell) {
  if (&cell == cells_.outer.get()) cell.background = background_.TakeLog();
  cell.End([this, &cell] { FinishCell(cell); });
}

void Session::FinishCell(RunningCell& ended) {
  const bool is_outer = &ended == cells_.outer.get();
  std::unique_ptr<RunningCell> cell = cells_.Take(ended);
  CellOutcome outcome = cell->TakeOutcome();
  if (is_outer) TellNotices(outcome);
  cell->done(std::move(outcome));
  Pump();
}

// Once, before what the cell itself has caused.
void Session::TellNotices(CellOutcome& outcome) {
  std::vector<std::string> notices = std::exchange(notices_, {});
  if (!std::exchange(told_opening_, true)) {
    notices.insert(notices.end(), options_.notices.begin(), options_.notices.end());
    if (template_ != nullptr && template_->ready()) {  // a preload may have failed
      const std::vector<std::string>& warnings = template_->ready()->warnings;
      notices.insert(notices.end(), warnings.begin(), warnings.end());
    }
  }
  outcome.notices.insert(outcome.notices.begin(), notices.begin(), notices.end());
}

std::optional<uint32_t> Session::RunningCellInside(uint64_t call) const {
  for (const RunningCell* cell : cells_.All()) {
    if (cell->parent == call && !cell->ended) return cell->number();
  }
  return std::nullopt;
}

std::optional<CellOutcome> Session::OutcomeSoFar(uint64_t call) const {
  for (const RunningCell* cell : cells_.All()) {
    if (cell->parent == call) return cell->OutcomeSoFar();
  }
  return std::nullopt;
}

void Session::KillWorker(std::string reason) {
  if (worker_ == nullptr || closing_) return;
  if (cells_.outer != nullptr) reason += ", in cell " + std::to_string(cells_.outer->number());
  kill_reason_ = std::move(reason);
  worker_->Kill();
}

void Session::Close(absl::AnyInvocable<void()> done) {
  on_closed_ = std::move(done);
  closing_ = true;
  std::deque<Job> abandoned;
  abandoned.swap(queue_);
  for (Job& job : abandoned) Fail(std::move(job), SessionClosed());
  AbandonRestoring();
  if (template_ != nullptr) template_->Continue();  // or the keeper would stay as a zombie
  if (worker_ == nullptr) return FinishClose();
  if (cells_.outer != nullptr || !worker_ready_) {
    worker_->Kill();
  } else {
    worker_->Send(wire::Exit{});
  }
  KillAfterGrace();
}

void Session::FinishClose() {
  loop_.Cancel(exit_timer_);
  snapshots_.Clear();
  const RunningCell* outer = cells_.outer.get();
  for (const std::unique_ptr<RunningCell>& cell : cells_.TakeAll()) {
    if (!cell->ended) cell->EndAsClosed();
    CellOutcome outcome = cell->TakeOutcome();
    if (cell.get() == outer)
      std::ranges::move(TakeBackground(), std::back_inserter(outcome.background));
    cell->done(std::move(outcome));
  }
  if (value_.pending()) value_.Take().done(SessionClosed());
  if (resetting_) {
    ResetJob job = *std::exchange(resetting_, std::nullopt);
    job.done(SessionClosed());
  }
  if (on_closed_) std::exchange(on_closed_, nullptr)();
}

}  // namespace cellar::host
