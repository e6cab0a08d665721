// Keeps what hosts leave on the disk within limits: the artifacts of this host, and, where every
// host has a directory of its own, those of the hosts before it.
#pragma once

#include <string>

#include "host/base/event_loop.h"
#include "host/base/task_thread.h"
#include "host/output/artifacts.h"

namespace cellar::host {

// The name of a host's own directory: this and its pid.
inline constexpr char kHostArtifactsPrefix[] = "artifacts-";

// Within `directory`, and in the directories of other hosts beside it, from the newest to the
// oldest. Directories of hosts that left nothing are removed. What cannot be read is left alone.
// Blocks on the disk.
void CleanUpArtifacts(const std::string& directory, const ArtifactLimits& limits);

// Cleans up a second after its start, so that short runs are not held up, and then every hour, on
// a thread of its own. Lives on the loop's thread.
class ArtifactJanitor {
 public:
  ArtifactJanitor(EventLoop& loop, std::string directory, ArtifactLimits limits);
  ~ArtifactJanitor();
  ArtifactJanitor(const ArtifactJanitor&) = delete;

 private:
  void Schedule(absl::Duration delay);

  EventLoop& loop_;
  std::string directory_;
  ArtifactLimits limits_;
  EventLoop::TimerId timer_ = 0;
  TaskThread thread_;
};

}  // namespace cellar::host
