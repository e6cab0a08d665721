// The environment variables of a session beyond those of its interpreter: what it was opened with,
// and what calls have set since. They outlast workers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "host/wire/channel_messages.h"

namespace cellar::host {

class SessionVariables {
 public:
  using Entries = std::vector<wire::EnvironmentEntry>;

  explicit SessionVariables(Entries entries);

  const Entries& all() const { return entries_; }

  // A call sets these with that cell. If PI_ARTIFACTS_DIR is among them and its other name,
  // ARTIFACTS, is not, that is added to them.
  void Set(Entries& entries, uint32_t cell);
  // All of them go to each new worker in one message, and most of them to every program it starts.
  static constexpr size_t kMaxBytes = 4u << 20;
  static constexpr size_t kMaxCount = 4096;  // they are looked up one by one
  // Fails if, with these set too, there would be more than the limits allow.
  absl::Status CheckRoomFor(const Entries& entries) const;
  // A worker that was given all of them has started.
  void OnWorkerStart() { changes_.clear(); }
  // The worker will not go back to before that cell.
  void KeepSince(uint32_t cell);
  // The worker has gone back to before that cell. Returns what was set since, which it lacks.
  Entries SetSince(uint32_t cell);
  // The worker was asked to go back to before that cell: what was set since is undone.
  void UndoSince(uint32_t cell);

  // Where the session's artifacts go, if it says so.
  std::optional<std::string> artifacts_directory() const;

 private:
  // What the worker got from a call.
  struct Change {
    uint32_t cell;                 // with which it came
    wire::EnvironmentEntry entry;  // as it was before
    bool was_known;                // false: it was not among the entries
  };

  Entries entries_;
  std::vector<Change> changes_;  // oldest first
};

}  // namespace cellar::host
