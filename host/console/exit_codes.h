// What the program's exit code means; the same for every command.
#pragma once

#include "absl/status/status.h"

namespace cellar::host {

inline constexpr int kExitFine = 0;
inline constexpr int kExitFailed = 1;     // a cell has failed; of `daemon status`: none runs
inline constexpr int kExitUsage = 2;      // or a refused request: see ExitCodeFor
inline constexpr int kExitCannotRun = 3;  // cellar could not do it
inline constexpr int kExitInterrupted = 130;
inline constexpr int kExitReaderGone = 141;  // as of a program that SIGPIPE ends

// Of a command that ends with that status: kExitUsage where it was asked for something that there
// is not, that is wrong or that does not fit what there is; else kExitCannotRun.
inline int ExitCodeFor(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kExitFine;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kAborted:
      return kExitUsage;
    default:
      return kExitCannotRun;
  }
}

}  // namespace cellar::host
