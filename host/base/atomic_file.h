// Whole files: read at once, and replaced so that a reader, or a crash at any moment, finds the old
// content or the new one and never a part.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace cellar {

// Fails with OutOfRange if there is more than `limit` bytes to read.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path, size_t limit);
// The same for an open descriptor, which may be a pipe or a socket; `name` is for the error.
absl::StatusOr<std::string> ReadToEnd(int fd, const std::string& name, size_t limit);

// True if the file holds exactly `content`. Needs no memory for the file.
absl::StatusOr<bool> FileHolds(const std::string& path, std::string_view content);

// Writes `content` to a temporary file beside `path`, syncs it to disk and renames it. The mode of
// an old file is kept, its owner and group as far as the user may, and a symbolic link stays one:
// its target is replaced. A file that may not be written is not replaced either.
absl::Status ReplaceFile(const std::string& path, std::string_view content);

// The same for a file that is to be new: fails with AlreadyExists if one is there, also one that
// somebody else has made meanwhile.
absl::Status MakeFile(const std::string& path, std::string_view content);

// Whether ReplaceFile could replace or make that file, as far as can be told without writing.
absl::Status CheckReplaceable(const std::string& path);

// What a file looks like from outside; it changes when someone writes the file.
struct FileStamp {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  absl::Time modified;

  static absl::StatusOr<FileStamp> Of(const std::string& path);
  bool operator==(const FileStamp&) const = default;
};

// The same as ReplaceFile, for who writes a file again and again: returns the stamp of what was
// written. Fails with Aborted if the old file does not have the stamp `expected`; nullopt takes
// any.
absl::StatusOr<FileStamp> ReplaceStampedFile(const std::string& path, std::string_view content,
                                             const std::optional<FileStamp>& expected);
// The same as MakeFile.
absl::StatusOr<FileStamp> MakeStampedFile(const std::string& path, std::string_view content);

// That a file is no longer what it was: Aborted.
absl::Status ChangedOnDisk(const std::string& path);

}  // namespace cellar
