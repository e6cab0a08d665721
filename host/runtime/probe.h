// Asks a Python what it is by running it, for those whose files do not tell. Slow (17 ms for a
// plain interpreter, 100 ms through a shim): python_install.h comes first.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "host/runtime/environment.h"

namespace cellar::host {

struct ProbeOptions {
  std::string executable;
  Environment env;  // whole
  std::string cwd;  // shims choose by it
  absl::Time deadline = absl::InfiniteFuture();
  int cancel = -1;  // a descriptor that becomes readable when nobody wants the answer any more
};

struct ProbeAnswer {
  std::string implementation;  // sys.implementation.name
  std::string version;         // "3.11.2"
  std::string executable;      // sys.executable: where a shim led to
  std::string base_prefix;     // sys.base_prefix
};

// Runs it in a session of its own, without input, without site-packages, and kills its group on
// return, so nothing is left behind. DeadlineExceeded when it is late, Cancelled when nobody wants
// the answer; FailedPrecondition, with the first line that it wrote, when it does not answer.
absl::StatusOr<ProbeAnswer> ProbePython(const ProbeOptions& options);

}  // namespace cellar::host
