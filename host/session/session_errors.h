// What several places say of a session that is not there, or not any more.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace cellar::host {

inline absl::Status NoSuchSession(const std::string& id) {
  return absl::NotFoundError(absl::StrCat("there is no session \"", id, "\""));
}

// For what was asked of a session and had not been done when it was closed.
inline absl::Status SessionClosed() { return absl::CancelledError("the session was closed"); }

}  // namespace cellar::host
