// How many snapshots a session is to keep, and which it has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "host/runtime/snapshot_policy.h"

namespace cellar::host {

struct SnapshotOptions {
  SnapshotPolicy policy = SnapshotPolicy::kAuto;
  size_t kept = 4;
  // Of the available memory, for the snapshots of all sessions together.
  double memory_share = 0.25;
};

// A moment that a session can go back to.
struct KeptSnapshot {
  uint32_t before_cell = 0;
  // A value was set from outside since then, though no cell ran: it is undone too.
  bool values_set_since = false;
  absl::Duration cost;  // how long the worker stood still for it
};

struct SnapshotStatus {
  std::vector<KeptSnapshot> kept;  // oldest first
  uint64_t memory = 0;             // bytes that only snapshots hold, when last measured
  std::string note;                // why there are fewer than one could expect, or empty
};

}  // namespace cellar::host
