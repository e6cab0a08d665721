// The directory of a user's daemon: its socket, its locks, its log. Others have no access to it,
// and what is in it is reached through the open directory, so that nobody can put another in its
// place.
#pragma once

#include <sys/un.h>

#include <string>

#include "absl/status/statusor.h"
#include "host/base/unique_fd.h"
#include "host/runtime/environment.h"

namespace cellar::host {

struct RuntimeDirectory {
  UniqueFd fd;
  std::string path;  // for messages

  // A path by which the kernel finds the file whatever `path` leads to by now, and which is short
  // enough for a socket's address. Good for this process.
  std::string Reach(const char* name) const;
  // The same as the address of a socket.
  sockaddr_un AddressOf(const char* name) const;
};

// $XDG_RUNTIME_DIR/cellar, or /tmp/cellar-<uid> where there is no XDG_RUNTIME_DIR; made with mode
// 0700 when it is missing. PermissionDenied when it is a symbolic link, belongs to somebody else,
// or lets others in.
absl::StatusOr<RuntimeDirectory> OpenRuntimeDirectory(const Environment& env);

// Waits for the lock up to the limit. Closing the descriptor gives it back, and so does the death
// of the process. DeadlineExceeded when somebody else keeps it.
absl::StatusOr<UniqueFd> LockFile(const RuntimeDirectory& directory, const char* name,
                                  absl::Duration limit);

}  // namespace cellar::host
