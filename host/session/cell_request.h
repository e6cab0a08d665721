// What is asked of a session: a cell to run, and who watches it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "host/runtime/settings.h"
#include "host/session/cell_observer.h"
#include "host/session/outcome.h"
#include "host/wire/channel_messages.h"

namespace cellar::host {

struct CellRequest {
  std::string code;                  // UTF-8
  absl::Duration timeout;            // of inactivity; zero = none
  CellObserver* observer = nullptr;  // outlives the cell
  // What the call that the cell belongs to asks for, before the cell runs: where to be (empty =
  // where the session is), and variables, which stay.
  std::string cwd;
  std::vector<wire::EnvironmentEntry> environment;
  // kOnce: run again after the worker died under it, if the state is then that of before the cell.
  Retry retry = Retry::kNever;
  uint64_t result_room = kResultRoom;  // for what displays carry, in the outcome
};

// A Status means that cells could not be run at all; what happened to a cell is in its outcome.
using OutcomeCallback = absl::AnyInvocable<void(absl::StatusOr<CellOutcome>)>;

}  // namespace cellar::host
