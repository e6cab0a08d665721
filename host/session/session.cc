#include "host/session/session.h"

#include <utility>

namespace cellar::host {
namespace {

// For exit handlers of a worker that is being closed.
constexpr absl::Duration kCloseGrace = absl::Seconds(1);
// How long an outcome waits for its artifact to reach the disk.
constexpr absl::Duration kSettleLimit = absl::Seconds(5);

Stream ToStream(wire::StreamId stream) {
  return stream == wire::StreamId::kStdout ? Stream::kStdout : Stream::kStderr;
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
      snapshots_(loop, options_.snapshots) {
  background_ = std::make_unique<OutputLog>(storage_, OutputOptions());
}

Session::~Session() {
  *alive_ = false;
  loop_.Cancel(close_timer_);
  if (restore_) loop_.Cancel(restore_->limit_timer);
  if (running_ != nullptr) {
    loop_.Cancel(running_->timeout_timer);
    loop_.Cancel(running_->settle_timer);
  }
}

absl::Status Session::Prepare() {
  if (worker_ != nullptr) return absl::OkStatus();
  CELLAR_ASSIGN_OR_RETURN(Template * source, templates_.Get(options_.runtime));
  wire::Setup setup = {.cwd = options_.cwd,
                       .environment = options_.environment,
                       .sys_path = options_.sys_path,
                       .memory_cap = options_.memory_cap};
  CELLAR_ASSIGN_OR_RETURN(worker_, source->Fork(setup, *this));
  template_was_ready_ = source->ready().has_value();
  worker_ready_ = false;
  had_cells_ = false;
  next_cell_ = 1;
  snapshots_.Clear();
  return absl::OkStatus();
}

void Session::Run(CellRequest request, OutcomeCallback done) {
  Enqueue(CellJob{std::move(request), std::move(done)});
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

void Session::Enqueue(Job job) {
  if (closing_) return Fail(std::move(job), absl::FailedPreconditionError("the session is closed"));
  queue_.push_back(std::move(job));
  Pump();
}

void Session::Pump() {
  if (running_ != nullptr || running_value_ || closing_ || taking_snapshot_ || restore_ ||
      rewind_ || branching_ != nullptr) {
    return;
  }
  if (queue_.empty()) {
    if (worker_ready_) snapshots_.OnIdle(*worker_, next_cell_);
    return;
  }
  Job job = std::move(queue_.front());
  queue_.pop_front();
  if (absl::Status status = Prepare(); !status.ok()) {
    Fail(std::move(job), status);
    return Pump();
  }
  if (std::holds_alternative<CellJob>(job) && worker_ready_ && snapshots_.WantedBeforeNextCell()) {
    return TakeSnapshotFirst(std::move(job));
  }
  snapshots_.OnBusy(*worker_);
  std::visit([this](auto&& ready) { Start(std::move(ready)); }, std::move(job));
}

void Session::Start(CellJob job) {
  running_ = std::make_unique<RunningCell>();
  running_->request = std::move(job.request);
  running_->done = std::move(job.done);
  running_->log = std::make_unique<OutputLog>(storage_, OutputOptions());
  running_->outcome.execution_count = next_cell_++;
  running_->started = absl::Now();
  if (worker_ready_) RestartTimeout();
  worker_->Send(
      wire::Execute{.cell = running_->outcome.execution_count, .code = running_->request.code});
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

void Session::Fail(Job job, const absl::Status& status) {
  std::visit([&](auto& failed) { failed.done(status); }, job);
}

void Session::Interrupt() {
  if (running_ == nullptr || running_->ended || restore_) return;
  if (running_->ladder != nullptr) return running_->ladder->KillNow();
  if (!worker_ready_) {
    // A worker that is just being made has no handler for the signal yet.
    if (std::exchange(running_->interrupt_when_ready, true)) worker_->Kill();
    return;
  }
  running_->ladder = std::make_unique<InterruptLadder>(
      loop_, *worker_, running_->outcome.execution_count, options_.interrupt_grace);
}

void Session::RestartTimeout() {
  loop_.Cancel(running_->timeout_timer);
  if (running_->request.timeout <= absl::ZeroDuration() || running_->ladder != nullptr) return;
  running_->timeout_timer = loop_.After(running_->request.timeout, [this] { OnTimeout(); });
}

void Session::OnTimeout() {
  running_->outcome.timed_out = true;
  Interrupt();
}

void Session::OnWorkerReady() {
  start_retried_ = false;
  worker_ready_ = true;
  if (restore_) return FinishRestore();
  if (branched_) return FinishBranch(absl::OkStatus());
  // The first cell was waiting in the channel; its time begins now.
  if (running_ == nullptr) return;
  running_->started = absl::Now();
  RestartTimeout();
  if (running_->interrupt_when_ready) Interrupt();
}

void Session::OnText(uint32_t cell, wire::StreamId stream, std::string_view text) {
  bool of_running = running_ != nullptr && !running_->ended &&
                    (cell == 0 || cell == running_->outcome.execution_count);
  if (!of_running) {
    background_->AddText(ToStream(stream), text);
    CellObserver* observer =
        running_ != nullptr ? running_->request.observer : background_observer_;
    if (observer != nullptr) observer->OnBackgroundText(ToStream(stream), text);
    return;
  }
  running_->log->AddText(ToStream(stream), text);
  if (running_->request.observer != nullptr) {
    running_->request.observer->OnText(ToStream(stream), text);
  }
  if (running_->log->WantsPause() && worker_ != nullptr) worker_->PauseOutput(true);
}

void Session::OnDisplay(wire::Display display) {
  bool of_running = running_ != nullptr && display.cell == running_->outcome.execution_count;
  if (!of_running) return background_->AddDisplay(std::move(display));
  if (display.kind == wire::DisplayKind::kStatus) RestartTimeout();
  if (running_->request.observer != nullptr) running_->request.observer->OnDisplay(display);
  running_->log->AddDisplay(std::move(display));
}

void Session::OnError(wire::Error error) {
  if (running_ == nullptr || error.cell != running_->outcome.execution_count) return;
  running_->outcome.error = CellError{.ename = std::move(error.ename),
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
  if (running_ == nullptr || done.cell != running_->outcome.execution_count) return;
  CellOutcome& outcome = running_->outcome;
  outcome.stdin_requested = done.stdin_requested;
  had_cells_ = true;
  snapshots_.OnCellDone(absl::Now() - running_->started);
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
  if (outcome.status == CellStatus::kCancelled) {
    outcome.state_detail =
        "interrupted after " + Seconds(absl::Now() - running_->started) + ", state kept";
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
  Settle(*running_);
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
  if (restore_failed) exit = restore_->exit;
  snapshots_.OnWorkerExit();
  if (!closing_ && StartRestore(exit, restore_failed)) return;
  // The template was killed before it could fork, and nobody knew yet: nothing has run, so another
  // one may try.
  bool again = !restore_failed && worker_->pid() < 0 && template_was_ready_ &&
               !std::exchange(start_retried_, true);
  // Not destroyed here: this is a call from inside it.
  loop_.Post([worker = std::move(worker_)] {});
  bool could_not_start = !std::exchange(worker_ready_, false) && !restore_failed;
  if (had_cells_)
    fresh_reason_ = "the worker " + exit.Describe() + "; this cell ran in a fresh session";
  if (branched_) return FinishBranch(absl::UnavailableError("the branch " + exit.Describe()));
  if (closing_) return FinishClose();
  if (running_value_) {
    ValueJob job = *std::exchange(running_value_, std::nullopt);
    if (again) {
      queue_.push_front(std::move(job));
    } else {
      job.done(absl::UnavailableError("the worker " + exit.Describe()));
    }
  }
  if (running_ != nullptr && !running_->ended) {
    if (again && running_->ladder == nullptr && !running_->interrupt_when_ready) {
      std::unique_ptr<RunningCell> cell = std::move(running_);
      queue_.push_front(CellJob{std::move(cell->request), std::move(cell->done)});
    } else if (could_not_start) {
      std::unique_ptr<RunningCell> cell = std::move(running_);
      loop_.Cancel(cell->timeout_timer);
      cell->done(absl::UnavailableError(exit.Describe()));
    } else {
      FinishAsDead(std::move(exit));
    }
  }
  Pump();
}

void Session::FinishAsDead(WorkerExit exit, const std::string& restored) {
  CellOutcome& outcome = running_->outcome;
  bool killed =
      rewind_ || running_->killed || (running_->ladder != nullptr && running_->ladder->killed());
  outcome.status = killed ? CellStatus::kCancelled : CellStatus::kError;
  outcome.state = StateAfter::kLost;
  outcome.state_detail = killed ? "did not react to the interrupt and was killed, state lost"
                                : "the worker " + exit.Describe() + ", state lost";
  outcome.error = CellError{.ename = killed ? "CellKilled" : "WorkerDied",
                            .evalue = rewind_  ? "the session was rewound"
                                      : killed ? "the cell did not react to the interrupt"
                                               : "the worker " + exit.Describe(),
                            .traceback = exit.python_stack};
  if (!restored.empty()) {
    outcome.state = StateAfter::kRestored;
    outcome.state_detail = restored;
    TellNotCarried(outcome);
  }
  outcome.death = std::move(exit);
  Settle(*running_);
}

// The cell has ended; its outcome is complete but for what still goes to the disk.
void Session::Settle(RunningCell& cell) {
  cell.ended = true;
  cell.ladder.reset();
  loop_.Cancel(cell.timeout_timer);
  cell.outcome.duration = absl::Now() - cell.started;
  cell.log->Close();
  if (cell.log->IsSettled()) return FinishCell();
  cell.settle_timer = loop_.After(kSettleLimit, [this] { FinishCell(); });
}

void Session::FinishCell() {
  std::unique_ptr<RunningCell> cell = std::move(running_);
  loop_.Cancel(cell->settle_timer);
  OutputLog::Outputs outputs = cell->log->Take();
  cell->outcome.outputs = std::move(outputs.outputs);
  cell->outcome.truncation = std::move(outputs.truncation);
  cell->outcome.background = TakeBackground();
  cell->done(std::move(cell->outcome));
  Pump();
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
  if (running_ == nullptr) return;
  if (running_->ended) {
    if (running_->log->IsSettled()) FinishCell();
  } else if (worker_ != nullptr && !running_->log->WantsPause()) {
    worker_->PauseOutput(false);
  }
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
  close_timer_ = loop_.After(kCloseGrace, [this] {
    if (worker_ != nullptr) worker_->Kill();
  });
}

void Session::FinishClose() {
  loop_.Cancel(close_timer_);
  snapshots_.Clear();
  if (running_ != nullptr) {
    std::unique_ptr<RunningCell> cell = std::move(running_);
    loop_.Cancel(cell->timeout_timer);
    loop_.Cancel(cell->settle_timer);
    cell->done(absl::CancelledError("the session was closed"));
  }
  if (running_value_) {
    ValueJob job = *std::exchange(running_value_, std::nullopt);
    job.done(absl::CancelledError("the session was closed"));
  }
  if (on_closed_) std::exchange(on_closed_, nullptr)();
}

}  // namespace cellar::host
