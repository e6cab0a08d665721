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

  // A call brings these with that cell. ARTIFACTS, the other name of PI_ARTIFACTS_DIR, is added to
  // them where they speak of one only.
  void Set(Entries& entries, uint32_t cell);
  // All of them go to each new worker in one message, and most of them to every program it starts.
  static constexpr size_t kMaxBytes = 4u << 20;
  static constexpr size_t kMaxCount = 4096;  // they are looked up one by one
  // Whether these can be set too; without any, whether those that there are can be.
  absl::Status CheckRoomFor(const Entries& entries) const;
  // A worker that was given all of them has started.
  void OnWorkerStart() { changes_.clear(); }
  // The worker will not go back to before that cell.
  void KeepSince(uint32_t cell);
  // The worker has gone back to before that cell. Returns what it lacks of them.
  Entries SetSince(uint32_t cell);
  // The same, where that was asked for and they are to be as they were then.
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
