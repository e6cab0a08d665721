#include "host/session/running_cell.h"

#include <algorithm>
#include <utility>

#include "host/base/clock.h"

namespace cellar::host {
namespace {

// How long an outcome waits for its artifact to reach the disk.
constexpr absl::Duration kSettleLimit = absl::Seconds(5);

}  // namespace

RunningCell::RunningCell(EventLoop& loop, CellRequest request, OutcomeCallback done,
                         std::unique_ptr<OutputLog> log)
    : loop(loop),
      request(std::move(request)),
      done(std::move(done)),
      log(std::move(log)),
      started(MonotonicNow()) {}

RunningCell::~RunningCell() {
  StopTimeout();
  StopGrace();
  loop.Cancel(settle_timer_);
}

void RunningCell::RestartTimeout(EventLoop::Task on_timeout) {
  StopTimeout();
  if (request.timeout <= absl::ZeroDuration() || ladder != nullptr) return;
  timeout_timer_ = loop.After(request.timeout, std::move(on_timeout));
}

void RunningCell::StopTimeout() { loop.Cancel(timeout_timer_); }

void RunningCell::StartGrace(absl::Duration grace, EventLoop::Task over) {
  grace_timer_ = loop.After(grace, std::move(over));
}

void RunningCell::StopGrace() { loop.Cancel(grace_timer_); }

void RunningCell::StopWatching() {
  if (ended) return;
  StopTimeout();
  StopGrace();
  if (ladder == nullptr) return;
  interrupted = true;
  killed |= ladder->killed();
  ladder.reset();
}

void RunningCell::End(EventLoop::Task finish) {
  End();
  if (IsSettled()) return finish();
  settle_timer_ = loop.After(kSettleLimit, std::move(finish));
}

void RunningCell::EndAsClosed() {
  outcome.status = CellStatus::kCancelled;
  outcome.state = StateAfter::kLost;
  outcome.state_detail = "the session was closed, state lost";
  outcome.error = CellError{.ename = "CellKilled", .evalue = "the session was closed"};
  End();
}

void RunningCell::End() {
  ended = true;
  ladder.reset();
  StopTimeout();
  StopGrace();
  outcome.duration = MonotonicNow() - started;
  log->Close();
  if (background != nullptr) background->Close();
}

bool RunningCell::IsSettled() const {
  return ended && log->IsSettled() && (background == nullptr || background->IsSettled());
}

std::string RunningCell::DescribeKill() const {
  return had_not_begun         ? "was killed before it had begun"
         : killed_by_interrupt ? "was interrupted, which ended the worker"
                               : "did not react to the interrupt and was killed";
}

std::string RunningCell::KillError() const {
  return had_not_begun         ? kNotBegun
         : killed_by_interrupt ? "the interrupt ended the worker: the cell had removed its handler"
                               : "the cell did not react to the interrupt";
}

CellOutcome RunningCell::OutcomeSoFar() const {
  CellOutcome so_far = outcome;
  so_far.duration = MonotonicNow() - started;
  OutputLog::Outputs outputs = log->SoFar();
  so_far.outputs = std::move(outputs.outputs);
  so_far.truncation = std::move(outputs.truncation);
  return so_far;
}

CellOutcome RunningCell::TakeOutcome() {
  OutputLog::Outputs outputs = log->Take();
  outcome.outputs = std::move(outputs.outputs);
  outcome.truncation = std::move(outputs.truncation);
  if (background != nullptr) outcome.background = background->Take().outputs;
  return std::move(outcome);
}

RunningCell* RunningCells::Find(uint32_t number) const {
  for (RunningCell* cell : All()) {
    if (cell->number() == number) return cell->ended ? nullptr : cell;
  }
  return nullptr;
}

RunningCell* RunningCells::Innermost() const {
  RunningCell* innermost = nullptr;
  for (RunningCell* cell : All()) {
    if (!cell->ended) innermost = cell;
  }
  return innermost;
}

RunningCell* RunningCells::InnermostSettled() const {
  RunningCell* innermost = nullptr;
  for (RunningCell* cell : All()) {
    if (cell->IsSettled()) innermost = cell;
  }
  return innermost;
}

std::vector<RunningCell*> RunningCells::All() const {
  std::vector<RunningCell*> all;
  if (outer != nullptr) all.push_back(outer.get());
  for (const std::unique_ptr<RunningCell>& cell : nested) all.push_back(cell.get());
  return all;
}

std::unique_ptr<RunningCell> RunningCells::Take(const RunningCell& cell) {
  if (&cell == outer.get()) return std::move(outer);
  auto found = std::find_if(nested.begin(), nested.end(),
                            [&](const auto& each) { return each.get() == &cell; });
  std::unique_ptr<RunningCell> taken = std::move(*found);
  nested.erase(found);
  return taken;
}

std::vector<std::unique_ptr<RunningCell>> RunningCells::TakeAll() {
  std::vector<std::unique_ptr<RunningCell>> all = std::exchange(nested, {});
  if (outer != nullptr) all.push_back(std::move(outer));
  return all;
}

}  // namespace cellar::host
