// The part of a session in which cells call the host: the worker's bridge, and the cells that run
// inside the wait for a call.
#include <utility>
#include <vector>

#include "host/session/session.h"

namespace cellar::host {

void Session::ConnectBridge() {
  BridgeOptions bridge = {
      .provider = options_.bridge, .session = options_.id, .limit = options_.bridge_limit};
  bridge_ = std::make_unique<Bridge>(loop_, std::move(bridge), static_cast<BridgeListener&>(*this));
}

void Session::RunNested(uint64_t call, CellRequest request, OutcomeCallback done) {
  std::optional<uint32_t> waiting = bridge_ ? bridge_->WaitingCell(call) : std::nullopt;
  RunningCell* innermost = cells_.Innermost();
  if (!waiting || innermost == nullptr || innermost->number() != *waiting ||
      innermost->ladder != nullptr || closing_) {
    return done(absl::FailedPreconditionError(kSessionHeld));
  }
  if (absl::Status fits = CheckFits(request.code.size()); !fits.ok()) return done(fits);
  std::unique_ptr<RunningCell> cell = MakeCell({std::move(request), std::move(done)});
  cell->outcome.execution_count = next_cell_++;
  cell->parent = call;
  RestartTimeout(*cell);
  bridge_->RunNested(call, cell->number(), cell->request.code);
  cells_.nested.push_back(std::move(cell));
}

std::optional<uint64_t> Session::WaitingCall() const {
  return bridge_ != nullptr ? bridge_->CallOfMainThread() : std::nullopt;
}

void Session::RenewOffer() {
  if (bridge_ != nullptr) bridge_->RenewOffer();
}

void Session::OnOpenLine(UniqueFd socket, bool of_main_thread) {
  if (bridge_ != nullptr) bridge_->AddLine(std::move(socket), of_main_thread);
}

void Session::OnOffer(const wire::BridgeOffer& offer) { worker_->Send(offer); }

void Session::OnCallComes() {
  if (worker_ != nullptr) worker_->DeliverOutput();
}

void Session::OnCallsChanged(uint32_t cell) {
  if (RunningCell* found = cells_.Find(cell)) RestartTimeout(*found);
}

void Session::OnWithdraw(uint64_t call) {
  // A nested cell that ran to its end has said so before.
  if (worker_ != nullptr) worker_->DeliverArrived();
  RefuseNested(call);
}

void Session::RefuseNested(std::optional<uint64_t> call) {
  std::vector<std::unique_ptr<RunningCell>> refused;
  for (std::unique_ptr<RunningCell>& cell : cells_.nested) {
    if (!cell->ended && (!call || cell->parent == *call)) refused.push_back(std::move(cell));
  }
  std::erase(cells_.nested, nullptr);
  for (const std::unique_ptr<RunningCell>& cell : refused) {
    cell->StopTimeout();
    cell->done(absl::FailedPreconditionError(kSessionHeld));
  }
  InterruptNextOuter();
}

}  // namespace cellar::host
