// The directory that holds artifacts: makes files in it, finds them again by id, reads lines back,
// cleans up. It does not decide what is saved or which directory it is.
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

struct ArtifactLines {
  std::string text;         // raw bytes as the cell wrote them: sanitise before showing
  uint64_t line_count = 0;  // how many lines `text` has
  bool has_more = false;    // lines, or part of the last one, follow
};

struct ArtifactLimits {
  absl::Duration max_age = absl::Hours(24 * 7);
  uint64_t max_total_bytes = uint64_t{4} << 30;
};

struct ArtifactCleanUp {
  uint64_t removed_files = 0;
  uint64_t removed_bytes = 0;
  uint64_t kept_bytes = 0;
};

// The directory is made at the first Create, mode 0700, with its parents. One that exists must be
// ours, must not be writable by everybody and is not followed if it is a symbolic link; its mode is
// left alone. Files are 0600, never followed if they are links, and have random names, so any
// number of hosts can share a directory. Files that were not made here are never touched.
//
// An id is the file's name, `cellar-<12 characters>.<extension>`; wherever one is taken,
// `artifact://<id>` is too.
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

  absl::Status Remove(std::string_view id) const;

  // The path of an artifact that exists.
  absl::StatusOr<std::string> PathOf(std::string_view id) const;

  // Up to `count` lines from line `first` (from 1) on, up to `max_bytes`. OutOfRange if the
  // artifact has fewer than `first` lines.
  absl::StatusOr<ArtifactLines> ReadLines(std::string_view id, uint64_t first, uint64_t count,
                                          size_t max_bytes = 1 << 20) const;

  // Removes artifacts that are older than max_age, then the oldest until the rest is within
  // max_total_bytes. Those that some host has open for writing stay.
  absl::StatusOr<ArtifactCleanUp> CleanUp(const ArtifactLimits& limits) const;

 private:
  absl::StatusOr<UniqueFd> OpenDirectory() const;
  absl::StatusOr<UniqueFd> OpenFile(std::string_view id) const;

  std::string directory_;
};

}  // namespace cellar::host
