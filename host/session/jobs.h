// What a session is asked for and does one after the other, and what it answers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "host/session/cell_request.h"
#include "host/session/standing.h"
#include "host/wire/channel_messages.h"

namespace cellar::host {

class Session;

// A value that crosses between host and session.
struct SessionValue {
  bool is_json = true;
  std::string data;  // JSON text, or raw bytes
};
using ValueCallback = absl::AnyInvocable<void(absl::StatusOr<std::optional<SessionValue>>)>;

using ResetCallback = absl::AnyInvocable<void(absl::Status)>;

using RewindCallback = absl::AnyInvocable<void(absl::StatusOr<Standing>)>;

struct Branched {
  std::unique_ptr<Session> session;
  Standing standing;
};
using BranchedCallback = absl::AnyInvocable<void(absl::StatusOr<Branched>)>;

struct CellJob {
  CellRequest request;
  OutcomeCallback done;
  bool interrupted = false;  // before it ran
  // A worker that did not get to begin it was killed. That is done once for a cell.
  bool kept_waiting = false;
};
struct ValueJob {
  std::variant<wire::Set, wire::Get> message;
  ValueCallback done;
};
struct ResetJob {
  ResetCallback done;
  bool is_news = false;  // whoever runs the next cell is told
};
struct BranchJob {
  BranchOptions options;
  BranchedCallback done;
};
using Job = std::variant<CellJob, ValueJob, ResetJob, BranchJob>;

inline bool IsCell(const Job& job) { return std::holds_alternative<CellJob>(job); }

void Fail(Job job, const absl::Status& status);

// Whether a message to a worker can hold that much beside its other fields.
absl::Status CheckFits(size_t bytes);

}  // namespace cellar::host
