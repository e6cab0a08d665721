#include "host/eval/running_call.h"

namespace cellar::host {
namespace {

void RecountOutput(const CellOutput& output, CallObserver& to) {
  using Type = CellOutput::Type;
  if (output.type == Type::kStdout) return to.OnText(Stream::kStdout, output.text);
  if (output.type == Type::kStderr) return to.OnText(Stream::kStderr, output.text);
  // A cell that runs has no result yet, and a status event says nothing when its time has passed.
  if (output.type != Type::kDisplay) return;
  to.OnDisplay({.kind = wire::DisplayKind::kDisplay,
                .data = output.data,
                .metadata = output.metadata,
                .display_id = output.display_id});
}

}  // namespace

void RunningCall::ToAll(absl::FunctionRef<void(CallObserver& to)> tell) {
  if (observer != nullptr) tell(*observer);
  tell(audience);
}

std::optional<std::string> RunningCall::HeldSession() const {
  if (!hold || call.mode != CallMode::kSession) return std::nullopt;
  return call.session;
}

void RunningCall::AddOnlooker(SessionWatcher& watcher) {
  CallObserver* newcomer =
      audience.Add(watcher, {.handle = HandleOf(id), .by = call.by, .is_nested = held_by != 0});
  if (runner != nullptr && newcomer != nullptr) Recount(*newcomer);
}

void RunningCall::Recount(CallObserver& to) const {
  const CallResult so_far = runner->SoFar();
  for (size_t i = 0; i < so_far.cells.size(); ++i) {
    if (so_far.cells[i].status != CellRunStatus::kRunning) continue;
    to.OnCellStarted(i, call.cells[i]);
    for (const CellOutput& output : so_far.cells[i].outcome.outputs) RecountOutput(output, to);
  }
}

CallResult RunningCall::SoFar() const {
  CallResult so_far = runner != nullptr ? runner->SoFar()
                                        : Unstarted(CallStatus::kRunning, CellRunStatus::kPending);
  so_far.handle = HandleOf(id);
  return so_far;
}

CallResult RunningCall::Unstarted(CallStatus status, CellRunStatus cell_status) const {
  CallResult result = {.status = status, .session_id = call.session};
  for (const CallCell& cell : call.cells) {
    result.cells.push_back(
        {.status = cell_status, .title = cell.title, .runs = 0, .clamp_note = cell.clamp_note});
  }
  return result;
}

}  // namespace cellar::host
