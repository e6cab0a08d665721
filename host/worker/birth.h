// Everything a worker is born with: its channel, ring, doorbell and pipes, the host's ends and the
// worker's, and the socket of its keeper.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "host/base/status.h"
#include "host/base/unique_fd.h"
#include "host/wire/birth_fds.h"
#include "host/wire/ring.h"
#include "host/worker/keeper.h"

namespace cellar::host {

// The host's ends.
struct WorkerEnds {
  UniqueFd channel;
  UniqueFd doorbell;
  UniqueFd faults;
  UniqueFd out;
  UniqueFd err;
};

struct Birth {
  WorkerEnds ends;
  std::optional<wire::RingMemory> ring;
  std::vector<UniqueFd>
      worker_fds;  // wire::BirthFd; the host need not keep them once they are sent

  // The first `count` of the worker's, borrowed. A doorbell and a faults file have one end only.
  std::vector<int> Fds(size_t count) const;
  // The same, to be kept; they are no longer here.
  absl::StatusOr<std::vector<UniqueFd>> TakeFds(size_t count);
};

// All but the keeper's.
absl::StatusOr<Birth> MakeBirth();
// A keeper's socket, and a pidfd of this process by which it knows that its host lives.
absl::StatusOr<std::unique_ptr<Keeper>> AddKeeper(EventLoop& loop, Birth& birth);

}  // namespace cellar::host
