// The directory that holds artifacts: makes files in it, removes them by id, cleans up. It does not
// decide what is saved or which directory it is, and reads nothing: cells do that themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "host/base/unique_fd.h"

namespace cellar::host {

struct NewArtifact {
  std::string id;
  std::string path;
  UniqueFd fd;  // open for writing; the file is safe from clean-up while it is open
};

struct ArtifactLimits {
  absl::Duration max_age = absl::Hours(24 * 7);
  uint64_t max_total_bytes = uint64_t{4} << 30;
};

// The directory is made at the first Create, mode 0700, with its parents. One that exists must be
// ours, must not be writable by everybody and is not followed if it is a symbolic link; its mode is
// left alone. Files are 0600, never followed if they are links, and have random names, so any
// number of hosts can share a directory. Files that were not made here are never touched.
//
// An id is the file's name, `cellar-<12 characters>.<extension>`.
//
// Thread-safe: it has no state but the path, and looks at the directory anew each time, so one that
// was removed comes back with the next Create. All calls may block on the disk: none belongs on a
// loop thread.
class ArtifactStore {
 public:
  // A relative path is taken from the current directory, now.
  explicit ArtifactStore(std::string_view directory);

  const std::string& directory() const { return directory_; }

  // `extension`: lower-case letters and digits, at most 8.
  absl::StatusOr<NewArtifact> Create(std::string_view extension) const;

  absl::Status Remove(const std::string& id) const;

  // Removes artifacts that are older than max_age, then the oldest until the rest is within
  // max_total_bytes. Those that some host has open for writing stay. Returns the bytes of those
  // that are left.
  absl::StatusOr<uint64_t> CleanUp(const ArtifactLimits& limits) const;

 private:
  absl::StatusOr<UniqueFd> OpenDirectory() const;

  std::string directory_;
};

}  // namespace cellar::host
