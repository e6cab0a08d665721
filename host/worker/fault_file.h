// What faulthandler writes for a worker: the Python stacks when it dies, or when it is asked for
// them.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>

#include "host/base/unique_fd.h"

namespace cellar::host {

class FaultFile {
 public:
  explicit FaultFile(UniqueFd fd) : fd_(std::move(fd)) {}

  // The worker is about to write, and may go on after it.
  void OnDump() { has_dumped_ = true; }
  // What was dumped of cells that went on says nothing of a later one's death.
  void SkipOld();
  std::string Read() const;

 private:
  UniqueFd fd_;
  bool has_dumped_ = false;
  off_t begin_ = 0;
};

// What faulthandler wrote, without the frames of cellar's own modules.
std::string CleanPythonStack(const std::string& dump);

}  // namespace cellar::host
