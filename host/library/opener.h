// What the sessions of a Host are opened with: its options, and what was found for them once, when
// it started. Starts nothing.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "cellar/cellar.h"
#include "host/session/launch.h"

namespace cellar {

class Opener {
 public:
  static absl::StatusOr<std::unique_ptr<const Opener>> Make(HostOptions options);

  // Any thread.
  absl::StatusOr<host::SessionOptions> Prepare(SessionOptions options) const;
  // Of a session without options.
  const host::Launch& launch() const { return launch_; }

 private:
  Opener(HostOptions options, host::LaunchQuery query, host::Launch launch);

  HostOptions options_;
  host::LaunchQuery query_;  // with the environment as it was when the host started
  host::Launch launch_;
};

}  // namespace cellar
