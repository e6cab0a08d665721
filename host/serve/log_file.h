// The daemon's log: lines with their time, on standard error, which is a file that is put aside
// when it has grown.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "host/serve/runtime_directory.h"

namespace cellar::host {

class LogFile {
 public:
  explicit LogFile(const RuntimeDirectory& directory) : directory_(directory) {}

  // From now on standard error is the file.
  absl::Status Open();
  void Write(std::string_view line);

 private:
  const RuntimeDirectory& directory_;
};

}  // namespace cellar::host
