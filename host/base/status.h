// The one door from errno to absl::Status, and the two macros that pass a Status up.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cellar {

// "<what>: <strerror(error)>" under the code that fits the errno. `what` says what was tried and on
// what.
absl::Status ErrnoStatus(int error, std::string_view what);

}  // namespace cellar

#define CELLAR_RETURN_IF_ERROR(expr)                                \
  do {                                                              \
    if (absl::Status cellar_status = (expr); !cellar_status.ok()) { \
      return cellar_status;                                         \
    }                                                               \
  } while (false)

#define CELLAR_CONCAT_INNER(a, b) a##b
#define CELLAR_CONCAT(a, b) CELLAR_CONCAT_INNER(a, b)

// CELLAR_ASSIGN_OR_RETURN(UniqueFd fd, OpenThing());
#define CELLAR_ASSIGN_OR_RETURN(lhs, expr) \
  CELLAR_ASSIGN_OR_RETURN_INNER(CELLAR_CONCAT(cellar_statusor_, __LINE__), lhs, expr)
#define CELLAR_ASSIGN_OR_RETURN_INNER(result, lhs, expr) \
  auto result = (expr);                                  \
  if (!result.ok()) return std::move(result).status();   \
  lhs = *std::move(result)
