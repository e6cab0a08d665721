#include "host/session/session.h"

#include <algorithm>
#include <utility>

#include "host/base/clock.h"
#include "host/base/startup_trace.h"

namespace cellar::host {
namespace {

// For exit handlers of a worker that is being closed.
constexpr absl::Duration kCloseGrace = absl::Seconds(1);
// How long an outcome waits for its artifact to reach the disk.
constexpr absl::Duration kSettleLimit = absl::Seconds(5);
// More deaths than this, with no cell between them that went well, and cells are refused.
constexpr int kMaxDeathsInARow = 3;

Stream ToStream(wire::StreamId stream) {
  return stream == wire::StreamId::kStdout ? Stream::kStdout : Stream::kStderr;
}

// Later workers of the session get it too.
void SetVariable(const wire::EnvironmentEntry& entry, std::vector<wire::EnvironmentEntry>& all) {
  for (wire::EnvironmentEntry& known : all) {
    if (known.name == entry.name) {
      known.value = entry.value;
      return;
    }
  }
  all.push_back(entry);
}

// "0.5 s", "30 s".
std::string Seconds(absl::Duration duration) {
  return absl::FormatDuration(absl::Trunc(duration, absl::Milliseconds(1)));
}

}  // namespace

Session::Session(EventLoop& loop, TemplatePool& templates, OutputStorage storage,
                 SessionOptions options)
    : loop_(loop),
      templates_(templates),
      storage_(storage),
      options_(std::move(options)),
      queries_(loop),
      snapshots_(loop, options_.snapshots) {
  fresh_reason_ = options_.fresh_reason;
  background_ = std::make_unique<OutputLog>(storage_, OutputOptions());
}

Session::~Session() {
  *alive_ = false;
  loop_.Cancel(close_timer_);
  if (restore_) loop_.Cancel(restore_->limit_timer);
  if (running_ != nullptr) nested_.push_back(std::move(running_));
  for (const std::unique_ptr<RunningCell>& cell : nested_) {
    loop_.Cancel(cell->timeout_timer);
    loop_.Cancel(cell->settle_timer);
  }
}

absl::Status Session::Prepare() {
  if (worker_ != nullptr) return absl::OkStatus();
  CELLAR_ASSIGN_OR_RETURN(Template * source, templates_.Get(options_.runtime));
  wire::Setup setup = {.cwd = options_.cwd,
                       .environment = options_.environment,
                       .sys_path = options_.sys_path,
                       .memory_cap = options_.memory_cap,
                       .open_files = options_.open_files};
  CELLAR_ASSIGN_OR_RETURN(worker_, source->Fork(setup, *this));
  ConnectBridge();
  template_was_ready_ = source->ready().has_value();
  worker_ready_ = false;
  had_cells_ = false;
  next_cell_ = 1;
  snapshots_.Clear();
  return absl::OkStatus();
}

void Session::ConnectBridge() {
  if (options_.bridge == nullptr) return;
  BridgeOptions bridge = {
      .provider = options_.bridge, .session = options_.id, .limit = options_.bridge_limit};
  bridge_ = std::make_unique<Bridge>(loop_, std::move(bridge), static_cast<BridgeListener&>(*this));
}

void Session::Run(CellRequest request, OutcomeCallback done) {
  Enqueue(CellJob{std::move(request), std::move(done)});
}

void Session::RunNested(uint64_t call, CellRequest request, OutcomeCallback done) {
  std::optional<uint32_t> waiting = bridge_ ? bridge_->WaitingCell(call) : std::nullopt;
  RunningCell* innermost = Innermost();
  if (!waiting || innermost == nullptr || innermost->outcome.execution_count != *waiting ||
      innermost->ladder != nullptr || closing_) {
    return done(absl::FailedPreconditionError(kSessionHeld));
  }
  std::unique_ptr<RunningCell> cell = MakeCell({std::move(request), std::move(done)});
  cell->outcome.execution_count = next_cell_++;
  cell->parent = call;
  RestartTimeout(*cell);
  bridge_->RunNested(call, cell->outcome.execution_count, cell->request.code);
  nested_.push_back(std::move(cell));
}

void Session::Set(std::string name, SessionValue value, ValueCallback done) {
  wire::Set message = {.name = std::move(name),
                       .kind = value.is_json ? wire::ValueKind::kJson : wire::ValueKind::kBytes,
                       .data = std::move(value.data)};
  Enqueue(ValueJob{std::move(message), std::move(done)});
}

void Session::Get(std::string name, ValueCallback done) {
  Enqueue(ValueJob{wire::Get{.name = std::move(name)}, std::move(done)});
}

void Session::Reset(absl::AnyInvocable<void(absl::Status)> done) {
  Enqueue(ResetJob{std::move(done)});
}

void Session::Query(wire::Query query, QueryCallback done) {
  if (closing_) return done(absl::FailedPreconditionError("the session is closed"));
  if (queries_.stalled()) return done(PendingQueries::Busy());
  if (absl::Status status = Prepare(); !status.ok()) return done(status);
  query.request = queries_.Add(std::move(done));
  worker_->Send(query);
}

void Session::Enqueue(Job job) {
  if (closing_) return Fail(std::move(job), absl::CancelledError("the session was closed"));
  queue_.push_back(std::move(job));
  Pump();
}

void Session::Pump() {
  if (running_ != nullptr || running_value_ || closing_ || resetting_ || relieving_ ||
      taking_snapshot_ || restore_ || rewind_ || branching_ != nullptr) {
    return;
  }
  if (queue_.empty()) {
    if (worker_ready_) snapshots_.OnIdle(*worker_, next_cell_);
    return;
  }
  Job job = std::move(queue_.front());
  queue_.pop_front();
  absl::Status status;
  if (!std::holds_alternative<ResetJob>(job)) {
    status = CheckDeaths();
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

void Session::Start(CellJob job) {
  running_ = MakeCell(std::move(job));
  for (const wire::EnvironmentEntry& entry : running_->request.environment) {
    SetVariable(entry, options_.environment);
  }
  SendCell();
}

void Session::SendCell() {
  const CellRequest& request = running_->request;
  running_->outcome.execution_count = next_cell_++;
  if (worker_ready_) RestartTimeout(*running_);
  if (!request.cwd.empty() || !request.environment.empty()) {
    worker_->Send(wire::Enter{.cwd = request.cwd, .environment = request.environment});
  }
  worker_->Send(wire::Execute{.cell = running_->outcome.execution_count, .code = request.code});
}

std::unique_ptr<Session::RunningCell> Session::MakeCell(CellJob job) {
  auto cell = std::make_unique<RunningCell>();
  cell->request = std::move(job.request);
  cell->done = std::move(job.done);
  cell->log = std::make_unique<OutputLog>(storage_, OutputOptions());
  cell->started = MonotonicNow();
  ++cells_run_;
  return cell;
}

void Session::Start(ValueJob job) {
  running_value_ = std::move(job);
  std::visit(
      [this](auto& message) {
        message.request = next_request_++;
        worker_->Send(message);
      },
      running_value_->message);
}

void Session::Start(ResetJob job) {
  resetting_ = std::move(job);
  deaths_in_a_row_ = 0;
  fresh_reason_.clear();
  restored_note_.clear();
  if (worker_ == nullptr || !had_cells_) return FinishReset();
  worker_->Send(wire::Exit{});
  close_timer_ = loop_.After(kCloseGrace, [this] {
    if (worker_ != nullptr) worker_->Kill();
  });
}

void Session::FinishReset() {
  loop_.Cancel(close_timer_);
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
  options_.relieve([this, alive = alive_] {
    if (!*alive) return;
    relieving_ = false;
    Pump();
  });
  return true;
}

absl::Status Session::CheckDeaths() const {
  if (deaths_in_a_row_ <= kMaxDeathsInARow) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "the session's worker died " + std::to_string(deaths_in_a_row_) +
      " times in a row, the last time it " + last_death_ + "; reset the session to go on");
}

void Session::Fail(Job job, const absl::Status& status) {
  std::visit([&](auto& failed) { failed.done(status); }, job);
}

void Session::RenewOffer() {
  if (bridge_ != nullptr) bridge_->RenewOffer();
}

Session::RunningCell* Session::FindCell(uint32_t number) {
  if (running_ != nullptr && running_->outcome.execution_count == number) {
    return running_->ended ? nullptr : running_.get();
  }
  for (const std::unique_ptr<RunningCell>& cell : nested_) {
    if (cell->outcome.execution_count == number && !cell->ended) return cell.get();
  }
  return nullptr;
}

Session::RunningCell* Session::Innermost() {
  for (auto cell = nested_.rbegin(); cell != nested_.rend(); ++cell) {
    if (!(*cell)->ended) return cell->get();
  }
  return running_ != nullptr && !running_->ended ? running_.get() : nullptr;
}

void Session::Interrupt() {
  RunningCell* innermost = Innermost();
  if (innermost == nullptr || restore_) return;
  // One after the other from the inside: an interrupt names one cell.
  if (running_ != nullptr) running_->interrupt_after_nested = true;
  for (const std::unique_ptr<RunningCell>& cell : nested_) cell->interrupt_after_nested = true;
  Interrupt(*innermost);
}

void Session::Interrupt(RunningCell& cell) {
  if (cell.ladder != nullptr) return cell.ladder->KillNow();
  if (!worker_ready_) {
    // A worker that is just being made has no handler for the signal yet.
    if (!std::exchange(cell.interrupt_when_ready, true)) return;
    cell.interrupted = cell.killed = true;
    return worker_->Kill();
  }
  const uint32_t number = cell.outcome.execution_count;
  cell.ladder =
      std::make_unique<InterruptLadder>(loop_, *worker_, number, options_.interrupt_grace);
  // After the interrupt has its target: a call that is answered so looks for it.
  if (bridge_ != nullptr) bridge_->CancelCell(number);
}

void Session::RestartTimeout(RunningCell& cell) {
  loop_.Cancel(cell.timeout_timer);
  if (cell.request.timeout <= absl::ZeroDuration() || cell.ladder != nullptr) return;
  // Time in which the host has to answer is not the cell's.
  if (bridge_ != nullptr && bridge_->HasCalls(cell.outcome.execution_count)) return;
  cell.timeout_timer = loop_.After(cell.request.timeout, [this, &cell] { OnTimeout(cell); });
}

void Session::OnTimeout(RunningCell& cell) {
  cell.outcome.timed_out = true;
  Interrupt(cell);
}

void Session::OnOpenLine(UniqueFd socket, bool of_main_thread) {
  if (bridge_ != nullptr) bridge_->AddLine(std::move(socket), of_main_thread);
}

void Session::OnOffer(const wire::BridgeOffer& offer) { worker_->Send(offer); }

void Session::OnCallsChanged(uint32_t cell) {
  if (RunningCell* found = FindCell(cell)) RestartTimeout(*found);
}

void Session::OnWithdraw(uint64_t call) {
  // A nested cell that ran to its end has said so before.
  if (worker_ != nullptr) worker_->DeliverArrived();
  RefuseNested(call);
}

void Session::RefuseNested(std::optional<uint64_t> call) {
  std::vector<std::unique_ptr<RunningCell>> refused;
  for (std::unique_ptr<RunningCell>& cell : nested_) {
    if (!cell->ended && (!call || cell->parent == *call)) refused.push_back(std::move(cell));
  }
  std::erase(nested_, nullptr);
  for (const std::unique_ptr<RunningCell>& cell : refused) {
    loop_.Cancel(cell->timeout_timer);
    cell->done(absl::FailedPreconditionError(kSessionHeld));
  }
  InterruptNextOuter();
}

void Session::InterruptNextOuter() {
  RunningCell* outer = Innermost();
  if (outer != nullptr && outer->interrupt_after_nested && outer->ladder == nullptr &&
      !outer->interrupt_when_ready) {
    Interrupt(*outer);
  }
}

void Session::OnWorkerReady() {
  TraceStartup("worker ready");
  start_retried_ = false;
  relieved_ = false;
  worker_ready_ = true;
  if (restore_) return FinishRestore();
  if (branched_) return FinishBranch(absl::OkStatus());
  // The first cell was waiting in the channel; its time begins now.
  if (running_ == nullptr) return;
  running_->started = MonotonicNow();
  RestartTimeout(*running_);
  if (running_->interrupt_when_ready) Interrupt(*running_);
}

void Session::OnText(uint32_t cell, wire::StreamId stream, std::string_view text) {
  RunningCell* writer = cell == 0 ? Innermost() : FindCell(cell);
  if (writer == nullptr) {
    background_->AddText(ToStream(stream), text);
    CellObserver* observer =
        running_ != nullptr ? running_->request.observer : background_observer_;
    if (observer != nullptr) observer->OnBackgroundText(ToStream(stream), text);
    return;
  }
  writer->log->AddText(ToStream(stream), text);
  const bool pause = writer->log->WantsPause();
  if (writer->request.observer != nullptr) writer->request.observer->OnText(ToStream(stream), text);
  if (pause && worker_ != nullptr) worker_->PauseOutput(true);
}

void Session::OnDisplay(wire::Display display) {
  RunningCell* cell = FindCell(display.cell);
  if (cell == nullptr) return background_->AddDisplay(std::move(display));
  if (display.kind == wire::DisplayKind::kStatus) RestartTimeout(*cell);
  if (cell->request.observer != nullptr) cell->request.observer->OnDisplay(display);
  cell->log->AddDisplay(std::move(display));
}

void Session::OnError(wire::Error error) {
  RunningCell* cell = FindCell(error.cell);
  if (cell == nullptr) return;
  cell->outcome.error = CellError{.ename = std::move(error.ename),
                                  .evalue = std::move(error.evalue),
                                  .traceback = std::move(error.traceback),
                                  .exit_code = error.exit_code};
}

void Session::OnNotice(wire::Notice notice) {
  if (running_ == nullptr) return;
  if (running_->request.observer != nullptr) running_->request.observer->OnNotice(notice.text);
  running_->outcome.notices.push_back(std::move(notice.text));
}

void Session::OnDone(const wire::Done& done) {
  RunningCell* cell = FindCell(done.cell);
  if (cell == nullptr) return;
  // Its worker is being killed all the same: the death is its end, or the state would be said to be
  // kept.
  if (cell->ladder != nullptr && cell->ladder->killed()) return;
  if (cell == running_.get()) RefuseNested(std::nullopt);
  if (done.status == wire::DoneStatus::kHeld && cell->parent != 0) {
    return RefuseNested(cell->parent);
  }
  CellOutcome& outcome = cell->outcome;
  outcome.stdin_requested = done.stdin_requested;
  had_cells_ = true;
  if (cell == running_.get()) snapshots_.OnCellDone(MonotonicNow() - cell->started);
  deaths_in_a_row_ = 0;
  switch (done.status) {
    case wire::DoneStatus::kOk:  // also when it was interrupted and made something of it
      break;
    case wire::DoneStatus::kInterrupted:
      outcome.status = CellStatus::kCancelled;
      break;
    default:
      outcome.status = CellStatus::kError;
      break;
  }
  if (outcome.status == CellStatus::kCancelled || cell->ladder != nullptr) {
    outcome.state_detail =
        "interrupted after " + Seconds(MonotonicNow() - cell->started) + ", state kept";
  }
  if (!fresh_reason_.empty()) {
    outcome.state = StateAfter::kFresh;
    outcome.state_detail = std::exchange(fresh_reason_, "");
  }
  if (!restored_note_.empty()) {
    outcome.state = StateAfter::kRestored;
    outcome.state_detail = std::exchange(restored_note_, "");
    TellNotCarried(outcome);
  }
  Settle(*cell);
  InterruptNextOuter();
}

void Session::OnValue(wire::Value value) {
  if (!running_value_) return;
  ValueJob job = *std::exchange(running_value_, std::nullopt);
  if (std::holds_alternative<wire::Set>(job.message)) snapshots_.OnValueSet();
  switch (value.kind) {
    case wire::ValueKind::kFailed:
      job.done(absl::InvalidArgumentError(value.data));
      break;
    case wire::ValueKind::kAbsent:
      job.done(std::nullopt);
      break;
    default:
      job.done(SessionValue{.is_json = value.kind == wire::ValueKind::kJson,
                            .data = std::move(value.data)});
  }
  had_cells_ = true;
  Pump();
}

void Session::OnWorkerExit(WorkerExit exit) {
  const bool restore_failed = restore_.has_value();
  if (!kill_reason_.empty()) exit.reason = std::exchange(kill_reason_, "");
  if (restore_failed) exit = restore_->exit;
  snapshots_.OnWorkerExit();
  bridge_.reset();
  queries_.FailAll(closing_ ? absl::CancelledError("the session was closed")
                            : absl::UnavailableError("the worker " + exit.Describe()));
  if (!closing_ && FoundDead(exit)) Requeue();
  StopWatching();
  if (!restore_failed && worker_ready_ && !closing_ && !resetting_) CountDeath(exit);
  if (!closing_ && !resetting_ && StartRestore(exit, restore_failed)) return;
  // The template was killed before it could fork, and nobody knew yet: nothing has run, so another
  // one may try.
  bool again = !restore_failed && worker_->pid() < 0 && template_was_ready_ &&
               !std::exchange(start_retried_, true);
  // Not destroyed here: this is a call from inside it.
  loop_.Post([worker = std::move(worker_)] {});
  bool could_not_start = !std::exchange(worker_ready_, false) && !restore_failed;
  if (branched_) return FinishBranch(absl::UnavailableError("the branch " + exit.Describe()));
  if (closing_) return FinishClose();
  if (resetting_) {
    snapshots_.Clear();
    return FinishReset();
  }
  if ((running_ == nullptr || running_->ended) && !could_not_start && had_cells_) Lose(exit);
  if (running_value_) {
    ValueJob job = *std::exchange(running_value_, std::nullopt);
    if (again) {
      queue_.push_front(std::move(job));
    } else {
      job.done(absl::UnavailableError("the worker " + exit.Describe()));
    }
  }
  if (running_ != nullptr && !running_->ended) {
    const bool has_run = running_->outcome.runs > 1;
    if (again && !has_run && !running_->interrupted && !running_->interrupt_when_ready) {
      std::unique_ptr<RunningCell> cell = std::move(running_);
      queue_.push_front(CellJob{std::move(cell->request), std::move(cell->done)});
    } else if (could_not_start && !has_run && !running_->killed) {
      FailStart(exit);
    } else {
      OnDeathInCell(std::move(exit), std::nullopt);
    }
  }
  Pump();
}

// It was dead already when the cell was sent to it: the cell before is the last that it began. A
// worker that wrote garbage is not believed.
bool Session::FoundDead(const WorkerExit& exit) {
  return worker_ready_ && running_ != nullptr && !running_->ended && running_->ladder == nullptr &&
         running_->outcome.runs == 1 && exit.reason.empty() &&
         worker_->HasBegun(running_->outcome.execution_count - 1);
}

// The cell waits for the next worker, as if the death had been noticed in time.
void Session::Requeue() {
  std::unique_ptr<RunningCell> cell = std::move(running_);
  loop_.Cancel(cell->timeout_timer);
  --cells_run_;
  next_cell_ = cell->outcome.execution_count;
  queue_.push_front(CellJob{std::move(cell->request), std::move(cell->done)});
}

// No cell has run: what was to run may be tried again, or fails.
void Session::FailStart(const WorkerExit& exit) {
  absl::Status status = exit.exhausted ? absl::ResourceExhaustedError(exit.Describe())
                                       : absl::UnavailableError(exit.Describe());
  std::unique_ptr<RunningCell> cell = std::move(running_);
  loop_.Cancel(cell->timeout_timer);
  Job job = CellJob{std::move(cell->request), std::move(cell->done)};
  if (!Relieve(job, status)) Fail(std::move(job), status);
}

// The cells have ended with their worker; nothing must climb or time out any more.
void Session::StopWatching() {
  auto stop = [this](RunningCell& cell) {
    if (cell.ended) return;
    loop_.Cancel(cell.timeout_timer);
    if (cell.ladder == nullptr) return;
    cell.interrupted = true;
    cell.killed = cell.ladder->killed();
    cell.ladder.reset();
  };
  if (running_ != nullptr) stop(*running_);
  for (const std::unique_ptr<RunningCell>& cell : nested_) stop(*cell);
}

void Session::CountDeath(const WorkerExit& exit) {
  RunningCell* cell = Innermost();
  if (rewind_ || (cell != nullptr && cell->interrupted)) return;  // ended on purpose
  ++deaths_in_a_row_;
  last_death_ = exit.Describe();
}

// There is nothing to go back to: the next cell finds nothing where there was something.
Session::Recovery Session::Lose(const WorkerExit& exit) {
  RunningCell* cell = Innermost();
  const bool killed = cell != nullptr && cell->killed;
  restored_note_.clear();
  fresh_reason_ = (killed ? "the cell before did not react to the interrupt and was killed"
                          : "the worker " + exit.Describe()) +
                  "; this cell ran in a fresh session";
  return {.state = StateAfter::kLost,
          .detail = killed ? "did not react to the interrupt and was killed, state lost"
                           : "the worker " + exit.Describe() + ", state lost",
          .is_before_cell = !had_cells_};
}

void Session::OnDeathInCell(WorkerExit exit, std::optional<Recovery> restored) {
  const std::string fresh_before = fresh_reason_;
  const std::string restored_before = std::exchange(restored_note_, "");
  const bool killed = rewind_ || Innermost()->killed;
  const Recovery recovery = restored ? *std::move(restored) : Lose(exit);
  // From the inside out: the outcome of the running cell is the last word.
  std::vector<RunningCell*> inner;
  for (const std::unique_ptr<RunningCell>& cell : nested_) {
    if (!cell->ended) inner.push_back(cell.get());
  }
  for (; !inner.empty(); inner.pop_back()) FinishAsDead(*inner.back(), exit, killed, recovery);
  CellOutcome& outcome = running_->outcome;
  const bool may_run_again = running_->request.retry == Retry::kOnce && outcome.runs == 1 &&
                             recovery.is_before_cell && !running_->interrupted && !rewind_;
  if (!may_run_again || !CheckDeaths().ok() || !Prepare().ok()) {
    // What a cell that lives says of the state before it.
    for (const std::string& before : {fresh_before, restored_before}) {
      if (!before.empty()) outcome.notices.push_back(before);
    }
    return FinishAsDead(*running_, std::move(exit), killed, recovery);
  }
  // What the first run printed stays.
  outcome.runs = 2;
  outcome.notices.push_back("the worker " + exit.Describe() + "; the cell was run again");
  outcome.error.reset();
  fresh_reason_ = fresh_before;
  restored_note_ = restored_before;
  SendCell();
}

void Session::FinishAsDead(RunningCell& cell, WorkerExit exit, bool killed,
                           const Recovery& recovery) {
  CellOutcome& outcome = cell.outcome;
  outcome.status = killed ? CellStatus::kCancelled : CellStatus::kError;
  outcome.state = recovery.state;
  outcome.state_detail = recovery.detail;
  if (recovery.state == StateAfter::kRestored) TellNotCarried(outcome);
  outcome.error = CellError{.ename = killed ? "CellKilled" : "WorkerDied",
                            .evalue = rewind_  ? "the session was rewound"
                                      : killed ? "the cell did not react to the interrupt"
                                               : "the worker " + exit.Describe(),
                            .traceback = exit.python_stack};
  outcome.death = std::move(exit);
  Settle(cell);
}

// The cell has ended; its outcome is complete but for what still goes to the disk.
void Session::Settle(RunningCell& cell) {
  End(cell);
  if (cell.log->IsSettled()) return FinishCell(cell);
  cell.settle_timer = loop_.After(kSettleLimit, [this, &cell] { FinishCell(cell); });
}

void Session::End(RunningCell& cell) {
  cell.ended = true;
  cell.ladder.reset();
  loop_.Cancel(cell.timeout_timer);
  cell.outcome.duration = MonotonicNow() - cell.started;
  cell.log->Close();
}

void Session::EndAsClosed(RunningCell& cell) {
  cell.outcome.status = CellStatus::kCancelled;
  cell.outcome.state = StateAfter::kLost;
  cell.outcome.state_detail = "the session was closed, state lost";
  cell.outcome.error = CellError{.ename = "CellKilled", .evalue = "the session was closed"};
  End(cell);
}

void Session::FinishCell(RunningCell& ended) {
  std::unique_ptr<RunningCell> cell;
  if (running_.get() == &ended) {
    cell = std::move(running_);
    cell->outcome.background = TakeBackground();
  } else {
    auto found = std::find_if(nested_.begin(), nested_.end(),
                              [&](const auto& each) { return each.get() == &ended; });
    cell = std::move(*found);
    nested_.erase(found);
  }
  cell->done(TakeOutcome(*cell));
  Pump();
}

CellOutcome Session::TakeOutcome(RunningCell& cell) {
  loop_.Cancel(cell.settle_timer);
  OutputLog::Outputs outputs = cell.log->Take();
  cell.outcome.outputs = std::move(outputs.outputs);
  cell.outcome.truncation = std::move(outputs.truncation);
  return std::move(cell.outcome);
}

std::optional<CellOutcome> Session::OutcomeSoFar() const {
  if (running_ == nullptr) return std::nullopt;
  CellOutcome outcome = running_->outcome;
  outcome.duration = MonotonicNow() - running_->started;
  OutputLog::Outputs outputs = running_->log->SoFar();
  outcome.outputs = std::move(outputs.outputs);
  outcome.truncation = std::move(outputs.truncation);
  return outcome;
}

void Session::KillWorker(std::string reason) {
  if (worker_ == nullptr || closing_) return;
  if (busy()) reason += ", in cell " + std::to_string(running_->outcome.execution_count);
  kill_reason_ = std::move(reason);
  worker_->Kill();
}

std::vector<CellOutput> Session::TakeBackground() {
  if (background_->empty()) return {};
  std::unique_ptr<OutputLog> log = std::move(background_);
  background_ = std::make_unique<OutputLog>(storage_, OutputOptions());
  log->Close();
  return log->Take().outputs;
}

SinkOptions Session::OutputOptions() {
  SinkOptions options = options_.output;
  options.on_progress = [this, alive = alive_] {
    loop_.Post([this, alive] {
      if (*alive) OnStorageProgress();
    });
  };
  return options;
}

void Session::OnStorageProgress() {
  std::vector<RunningCell*> stored;
  bool wants_pause = false;
  auto look_at = [&](RunningCell& cell) {
    if (!cell.ended) wants_pause |= cell.log->WantsPause();
    if (cell.ended && cell.log->IsSettled()) stored.push_back(&cell);
  };
  for (const std::unique_ptr<RunningCell>& cell : nested_) look_at(*cell);
  if (running_ != nullptr) look_at(*running_);
  if (worker_ != nullptr && !wants_pause) worker_->PauseOutput(false);
  for (RunningCell* cell : stored) FinishCell(*cell);
}

void Session::Close(absl::AnyInvocable<void()> done) {
  on_closed_ = std::move(done);
  closing_ = true;
  std::deque<Job> abandoned;
  abandoned.swap(queue_);
  for (Job& job : abandoned) Fail(std::move(job), absl::CancelledError("the session was closed"));
  AbandonRestoring();
  if (worker_ == nullptr) return FinishClose();
  if (running_ != nullptr || !worker_ready_) {
    worker_->Kill();
  } else {
    worker_->Send(wire::Exit{});
  }
  loop_.Cancel(close_timer_);  // of a reset
  close_timer_ = loop_.After(kCloseGrace, [this] {
    if (worker_ != nullptr) worker_->Kill();
  });
}

void Session::FinishClose() {
  loop_.Cancel(close_timer_);
  snapshots_.Clear();
  if (running_ != nullptr) nested_.push_back(std::move(running_));
  for (std::unique_ptr<RunningCell>& cell : std::exchange(nested_, {})) {
    if (!cell->ended) EndAsClosed(*cell);
    cell->done(TakeOutcome(*cell));
  }
  if (running_value_) {
    ValueJob job = *std::exchange(running_value_, std::nullopt);
    job.done(absl::CancelledError("the session was closed"));
  }
  if (resetting_) {
    ResetJob job = *std::exchange(resetting_, std::nullopt);
    job.done(absl::CancelledError("the session was closed"));
  }
  if (on_closed_) std::exchange(on_closed_, nullptr)();
}

}  // namespace cellar::host
