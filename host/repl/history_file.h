// The cells typed at a prompt, kept from one time to the next. One file for each session name; one
// line of the file for each cell, so that what one prompt appends never tears another's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/base/unique_fd.h"

namespace cellar::host {

class HistoryFile {
 public:
  static constexpr size_t kMaxCells = 10'000;
  static constexpr size_t kMaxBytes = 32u << 20;

  // In `directory`, which is made, with its parents, for the user alone;
  // one that is another's is not used. `session` is any name.
  HistoryFile(std::string directory, std::string_view session);

  // The last ones, oldest first: at most kMaxCells, in at most kMaxBytes of the file. It is
  // shortened to that when it has grown to twice as much. None when there is no file yet.
  absl::StatusOr<std::vector<std::string>> Load() const;

  absl::Status Append(std::string_view cell) const;

 private:
  absl::StatusOr<UniqueFd> Open(int flags) const;
  absl::StatusOr<std::string> ReadEnd(int fd, size_t size) const;

  std::string directory_;
  std::string name_;
  std::string path_;
};

}  // namespace cellar::host
