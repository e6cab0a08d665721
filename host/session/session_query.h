// How a session is named, asked for and listed: what callers say to the registry, and what it tells
// them.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "host/session/opening.h"

namespace cellar::host {

struct SessionKey {
  std::string id;
  std::string cwd;          // real path
  std::string interpreter;  // its executable

  auto operator<=>(const SessionKey&) const = default;
};

// Names a request for a session from the moment it is made until the hold is gone.
using TicketId = uint64_t;

struct SessionQuery {
  std::string id;
  std::string cwd;          // empty: wherever a session of that id is open, else where the host is
  std::string interpreter;  // executable or environment; empty: whichever the session has
  SessionOpening opening;   // for what `cwd` and `interpreter` do not say
  bool per_call = false;    // a session of its own, closed when the hold is gone
  bool runs_cells = true;   // false: nobody can expect state because of this request
  std::string owner;        // becomes one of the session's owners; empty: nobody does
  // Asked about who holds the session when it is not free. True: that one waits for this request,
  // which therefore fails at once. Or null.
  std::function<bool(TicketId holder)> is_waited_for_by;
};

struct SessionInfo {
  SessionKey key;
  std::set<std::string> owners;
  bool busy = false;
  size_t waiting = 0;
  uint64_t cells_run = 0;
  std::vector<uint32_t> snapshots;  // the cells before which one is kept
  uint64_t memory_bytes = 0;        // see SessionMemory()
  int worker_pid = -1;
  absl::Time last_used;
};

}  // namespace cellar::host
