// Frames by which the host has a worker or a snapshot copied, and asks a snapshot what memory
// processes hold.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/wire/birth_fds.h"
#include "host/wire/message.h"

namespace cellar::wire {

// What a copy of a worker is to be.
enum class CopyKind : uint8_t {
  kAsleep = 0,    // a snapshot
  kRestored = 1,  // the next worker of the same session
  kBranched = 2,  // the first worker of another session, with a keeper of its own
};

// Fork a copy of yourself; a worker does it between cells, a snapshot at any time. Carries the
// descriptors that the copy gets, in the order of BirthFd: the channel alone, all but the last two,
// or all of them. Answered by Copied.
struct Copy {
  static constexpr MessageType kType = MessageType::kCopy;
  uint32_t request = 0;
  CopyKind kind = CopyKind::kAsleep;
  bool reseed = false;    // the copy's random numbers are to be others
  bool cautious = false;  // not if there are threads that may not survive a fork
  CELLAR_WIRE_FIELDS(self.request, self.kind, self.reseed, self.cautious)
};

// In place of a request, for a copy that begins to run.
inline constexpr uint32_t kWakingCopy = ~0u;

// How many descriptors it carries.
inline constexpr size_t CopyFdCount(CopyKind kind) {
  switch (kind) {
    case CopyKind::kAsleep:
      return kChannelFd + 1;
    case CopyKind::kRestored:
      return kFaultsFd + 1;
    default:
      return kBirthFdCount;
  }
}

// From the process that was asked.
struct Copied {
  static constexpr MessageType kType = MessageType::kCopied;
  uint32_t request = 0;
  std::string error;       // why there is no copy, or empty
  bool held_up = false;    // because the host has ended what took too long, a fork hook perhaps
  int32_t pid = 0;         // of the copy
  int32_t keeper_pid = 0;  // of a branch's keeper
  uint32_t fork_us = 0;    // how long the asked process stood still
  CELLAR_WIRE_FIELDS(self.request, self.error, self.held_up, self.pid, self.keeper_pid,
                     self.fork_us)
};

// The error of a Copy whose descriptors did not arrive: cells have opened all that the process may.
inline constexpr char kNoDescriptors[] = "no descriptors are free";

// Says how much memory those processes hold. Only to a snapshot, which has nothing else to do.
struct Measure {
  static constexpr MessageType kType = MessageType::kMeasure;
  std::vector<int32_t> pids;
  CELLAR_WIRE_FIELDS(self.pids)
};

// Bytes of anonymous memory of one process; all 0 for one that is gone.
struct Memory {
  uint64_t resident = 0;
  uint64_t proportional = 0;  // each page divided by the number of processes that share it
  CELLAR_WIRE_FIELDS(self.resident, self.proportional)
};

// In the order of the pids that were asked for.
struct Measured {
  static constexpr MessageType kType = MessageType::kMeasured;
  std::vector<Memory> processes;
  CELLAR_WIRE_FIELDS(self.processes)
};

}  // namespace cellar::wire
