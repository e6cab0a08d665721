#include "host/eval/result.h"

namespace cellar::host {

CellRunStatus RunStatusOf(CellStatus status) {
  switch (status) {
    case CellStatus::kComplete:
      return CellRunStatus::kComplete;
    case CellStatus::kError:
      return CellRunStatus::kError;
    case CellStatus::kCancelled:
      return CellRunStatus::kCancelled;
  }
  return CellRunStatus::kError;
}

std::string_view NameOf(CellRunStatus status) {
  switch (status) {
    case CellRunStatus::kPending:
      return "pending";
    case CellRunStatus::kRunning:
      return "running";
    case CellRunStatus::kComplete:
      return "complete";
    case CellRunStatus::kError:
      return "error";
    case CellRunStatus::kCancelled:
      return "cancelled";
    case CellRunStatus::kNotRun:
      return "not_run";
  }
  return "error";
}

std::optional<CellRunStatus> CellRunStatusFromName(std::string_view name) {
  using enum CellRunStatus;
  for (CellRunStatus status : {kPending, kRunning, kComplete, kError, kCancelled, kNotRun}) {
    if (NameOf(status) == name) return status;
  }
  return std::nullopt;
}

std::string_view NameOf(CallStatus status) {
  switch (status) {
    case CallStatus::kOk:
      return "ok";
    case CallStatus::kError:
      return "error";
    case CallStatus::kCancelled:
      return "cancelled";
    case CallStatus::kRunning:
      return "running";
  }
  return "error";
}

std::string_view NameOf(StateAfter state) {
  switch (state) {
    case StateAfter::kKept:
      return "kept";
    case StateAfter::kRestored:
      return "restored";
    case StateAfter::kLost:
      return "lost";
    case StateAfter::kFresh:
      return "fresh";
  }
  return "lost";
}

CellOutput OutputOf(const wire::Display& display) {
  CellOutput::Type type = CellOutput::Type::kDisplay;
  if (display.kind == wire::DisplayKind::kResult) type = CellOutput::Type::kResult;
  if (display.kind == wire::DisplayKind::kStatus) type = CellOutput::Type::kStatus;
  return {.type = type,
          .data = display.data,
          .metadata = display.metadata,
          .display_id = display.display_id,
          .update = display.kind == wire::DisplayKind::kUpdate};
}

}  // namespace cellar::host
