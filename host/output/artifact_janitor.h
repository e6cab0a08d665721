// Keeps what hosts leave on the disk within limits: the artifacts of this host, and, where every
// host has a directory of its own, those of the hosts before it.
#pragma once

#include <optional>
#include <string>

#include "host/base/event_loop.h"
#include "host/base/task_thread.h"
#include "host/output/artifacts.h"

namespace cellar::host {

// The name of a host's own directory: this and its pid.
inline constexpr char kHostArtifactsPrefix[] = "artifacts-";

// Cleans up a second after its start, so that short runs are not held up, and then every hour, on
// a thread of its own. Lives on the loop's thread, but may be destroyed on another when the loop
// has ended.
class ArtifactJanitor {
 public:
  ArtifactJanitor(EventLoop& loop, std::string directory, ArtifactLimits limits);
  // Cleans up once more if there is something: those who leave it make room for it, however short
  // they live. Blocks on the disk.
  ~ArtifactJanitor();
  ArtifactJanitor(const ArtifactJanitor&) = delete;

 private:
  void Schedule(absl::Duration delay);

  EventLoop& loop_;
  std::string directory_;
  ArtifactLimits limits_;
  EventLoop::TimerId timer_ = 0;
  std::optional<TaskThread> thread_{std::in_place};
};

}  // namespace cellar::host
