// Finds the processes that sessions of this program leave behind, for tests. Reads /proc; ends
// nothing.
#pragma once

#include <sys/types.h>

#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace cellar {

// Remembers what processes sessions have when it is made: workers, their keepers, and all that
// cells started.
class SessionProcesses {
 public:
  SessionProcesses();

  // Those that came since, as "1234 sleep". Waits up to `limit` for them to go.
  std::vector<std::string> LeftAfter(absl::Duration limit) const;

 private:
  std::set<pid_t> before_;
};

}  // namespace cellar
