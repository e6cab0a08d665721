// Control messages between host and keeper.
#pragma once

#include <csignal>
#include <cstdint>

#include "host/wire/message.h"

namespace cellar::wire {

// Private signals of a worker: interrupt whatever the cell did to SIGINT; write the Python stacks.
inline int InsistSignal() { return SIGRTMIN + 10; }
inline int DumpSignal() { return SIGRTMIN + 11; }

// Sends `signal` to the worker's process group.
struct Signal {
  static constexpr MessageType kType = MessageType::kSignal;
  int32_t signal = 0;
  bool group = true;  // false: to the worker alone
  CELLAR_WIRE_FIELDS(self.signal, self.group)
};

// Kill everything below the keeper but snapshots and branches. Answered by WorkerExited, or by
// ForkFailed when there is no worker yet. Without snapshots the keeper then ends, which the host
// sees as the end of its socket.
struct Kill {
  static constexpr MessageType kType = MessageType::kKill;
  int32_t worker_pid = 0;  // the one that is meant, and no later one; 0 = whichever there is
  CELLAR_WIRE_FIELDS(self.worker_pid)
};

// That child is a snapshot, to be left alone when the worker ends.
struct KeepSnapshot {
  static constexpr MessageType kType = MessageType::kKeepSnapshot;
  int32_t pid = 0;
  CELLAR_WIRE_FIELDS(self.pid)
};

// That child is the worker from now on; the one before has ended. Answered by KeeperHello, or by
// ForkFailed when it is gone.
struct Promote {
  static constexpr MessageType kType = MessageType::kPromote;
  int32_t pid = 0;
  CELLAR_WIRE_FIELDS(self.pid)
};

// That child is the keeper of a session that branched off from this one, to be left alone. Answered
// by BranchKept.
struct KeepBranch {
  static constexpr MessageType kType = MessageType::kKeepBranch;
  int32_t keeper_pid = 0;
  CELLAR_WIRE_FIELDS(self.keeper_pid)
};

// Whether that keeper lives; it may have been ended with all that the worker left before KeepBranch
// came.
struct BranchKept {
  static constexpr MessageType kType = MessageType::kBranchKept;
  int32_t keeper_pid = 0;
  bool lives = false;
  CELLAR_WIRE_FIELDS(self.keeper_pid, self.lives)
};

// Carries pidfds of the worker and of the keeper.
struct KeeperHello {
  static constexpr MessageType kType = MessageType::kKeeperHello;
  int32_t worker_pid = 0;
  CELLAR_WIRE_FIELDS(self.worker_pid)
};

// In the place of KeeperHello: there will be no worker.
struct ForkFailed {
  static constexpr MessageType kType = MessageType::kForkFailed;
  int32_t error = 0;  // errno
  CELLAR_WIRE_FIELDS(self.error)
};

struct WorkerExited {
  static constexpr MessageType kType = MessageType::kWorkerExited;
  bool signaled = false;
  int32_t code = 0;  // signal or exit code
  CELLAR_WIRE_FIELDS(self.signaled, self.code)
};

// After WorkerExited, when there are snapshots, and after the ForkFailed that answers Kill: what
// the worker had started is gone too. The last word on that worker.
struct Cleared {
  static constexpr MessageType kType = MessageType::kCleared;
  CELLAR_WIRE_FIELDS()
};

}  // namespace cellar::wire
