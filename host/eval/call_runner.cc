#include "host/eval/call_runner.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "host/output/spoken_duration.h"

namespace cellar::host {
namespace {

// A cell has this much room in the result, whatever those before it have taken: it is for small
// displays and the events of helpers.
constexpr uint64_t kLeastResultRoom = 64u << 10;

// The first cell that is not complete decides. If that one was not run, the call was cancelled
// before it.
CallStatus StatusOf(const std::vector<CellResult>& cells) {
  for (const CellResult& cell : cells) {
    if (cell.status == CellRunStatus::kError) return CallStatus::kError;
    if (cell.status != CellRunStatus::kComplete) return CallStatus::kCancelled;
  }
  return CallStatus::kOk;
}

// What a cell says about the state holds for the session.
void NoteState(const CellOutcome& outcome, CallResult& result) {
  if (outcome.state == StateAfter::kKept) return;
  result.session_state = outcome.state;
  result.session_reason = outcome.state_detail;
}

}  // namespace

CallRunner::CallRunner(EventLoop& loop, Session& session, Call call, CallObserver* observer,
                       DoneCallback done)
    : loop_(loop),
      session_(session),
      call_(std::move(call)),
      observer_(observer),
      done_(std::move(done)) {
  result_.session_id = call_.session;
  result_.text_budget = session_.output_budget();
  for (const CallCell& cell : call_.cells) {
    result_.cells.push_back({.title = cell.title, .runs = 0, .clamp_note = cell.clamp_note});
  }
}

void CallRunner::Start() { Next(); }

void CallRunner::StartNested() {
  const bool resets = std::any_of(call_.cells.begin(), call_.cells.end(),
                                  [](const CallCell& cell) { return cell.reset; });
  if (resets || !call_.environment.empty()) {
    return Report(absl::FailedPreconditionError(
        absl::StrCat(kSessionHeld, ": it can be neither reset nor given variables")));
  }
  is_nested_ = true;
  Next();
}

void CallRunner::Cancel() {
  cancelled_ = true;
  if (!cell_runs_) return;
  if (is_nested_) return session_.InterruptNested(waiting_call_);
  session_.Interrupt();
}

void CallRunner::Next() {
  if (cancelled_ || index_ == call_.cells.size()) return Finish();
  if (!call_.cells[index_].reset) return RunCell();
  session_.Reset([this](absl::Status status) {
    if (!status.ok()) return Refuse(status);
    was_reset_ = true;
    if (!cancelled_) return RunCell();
    TellReset("cancelled");
    Finish();
  });
}

void CallRunner::RunCell() {
  const CallCell& cell = call_.cells[index_];
  result_.cells[index_].status = CellRunStatus::kRunning;
  if (observer_ != nullptr) observer_->OnCellStarted(index_, cell);
  if (cancelled_) return Finish();  // the observer has done it
  cell_runs_ = true;
  CellRequest request = {.code = cell.code,
                         .timeout = cell.timeout,
                         .observer = observer_,
                         .retry = call_.retry.value_or(Retry::kNever),
                         .result_room = std::max(result_room_, kLeastResultRoom)};
  auto done = [this](absl::StatusOr<CellOutcome> outcome) { OnOutcome(std::move(outcome)); };
  if (is_nested_) {
    waiting_call_ = session_.WaitingCall().value_or(0);
    return session_.RunNested(waiting_call_, std::move(request), std::move(done));
  }
  if (index_ == 0) {
    request.cwd = call_.cwd;
    request.environment = call_.environment;
  }
  session_.Run(std::move(request), std::move(done));
}

void CallRunner::OnOutcome(absl::StatusOr<CellOutcome> outcome) {
  cell_runs_ = false;
  if (!outcome.ok()) return Refuse(outcome.status());
  was_reset_ = false;
  CellResult& cell = result_.cells[index_];
  cell.status = RunStatusOf(outcome->status);
  cell.runs = outcome->runs;
  cell.outcome = *std::move(outcome);
  if (cell.outcome.timed_out) {
    cell.outcome.notices.push_back(TimedOutAfter(call_.cells[index_].timeout));
  }
  std::move(cell.outcome.background.begin(), cell.outcome.background.end(),
            std::back_inserter(result_.background));
  cell.outcome.background.clear();
  for (const CellOutput& output : cell.outcome.outputs) {
    result_room_ -= std::min(result_room_, DataBytes(output));
  }
  NoteState(cell.outcome, result_);
  if (observer_ != nullptr) observer_->OnCellFinished(index_, cell);
  ++index_;
  if (!cell.outcome.ok()) return Finish();
  Next();
}

CallResult CallRunner::SoFar() const {
  CallResult result = result_;
  result.status = CallStatus::kRunning;
  if (!cell_runs_) return result;
  if (std::optional<CellOutcome> outcome = session_.OutcomeSoFar(is_nested_ ? waiting_call_ : 0)) {
    result.cells[index_].runs = outcome->runs;
    result.cells[index_].outcome = *std::move(outcome);
  }
  return result;
}

// The state is gone, as was asked for, but the cell did not run.
void CallRunner::TellReset(const char* what_became_of_the_cell) {
  result_.session_state = StateAfter::kFresh;
  result_.session_reason =
      absl::StrCat("the session was reset for a cell that was then ", what_became_of_the_cell);
}

// The cell could not be run. The result still tells what was done before it.
void CallRunner::Refuse(const absl::Status& status) {
  if (index_ == 0 && !was_reset_) return Report(status);
  if (was_reset_) TellReset(absl::IsCancelled(status) ? "cancelled" : "not run");
  if (!absl::IsCancelled(status)) {
    CellResult& cell = result_.cells[index_++];
    cell.status = CellRunStatus::kError;
    cell.outcome.error = CellError{.ename = "CannotRun", .evalue = std::string(status.message())};
  }
  Finish();
}

// The cells from index_ on are not run.
void CallRunner::Finish() {
  for (size_t i = index_; i < call_.cells.size(); ++i) {
    result_.cells[i].status = CellRunStatus::kNotRun;
  }
  result_.status = StatusOf(result_.cells);
  Report(std::move(result_));
}

void CallRunner::Report(absl::StatusOr<CallResult> result) {
  loop_.Post(
      [done = std::move(done_), result = std::move(result)]() mutable { done(std::move(result)); });
}

}  // namespace cellar::host
