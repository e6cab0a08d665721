// The deaths of a session's workers with no cell between them that went well. After a few of them
// cells are refused: the next would most likely die too, and nobody seems to look.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "host/worker/worker_exit.h"

namespace cellar::host {

class DeathStreak {
 public:
  static constexpr int kMaxDeaths = 3;

  void Count(const WorkerExit& exit) {
    ++deaths_;
    last_ = exit.Describe();
  }
  void End() { deaths_ = 0; }

  // Whether another cell may run.
  absl::Status Check() const {
    if (deaths_ <= kMaxDeaths) return absl::OkStatus();
    return absl::FailedPreconditionError("the session's worker died " + std::to_string(deaths_) +
                                         " times in a row, the last time it " + last_ +
                                         "; reset the session to go on");
  }

 private:
  int deaths_ = 0;
  std::string last_;
};

}  // namespace cellar::host
