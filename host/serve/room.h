// How much one client has under way, so that it is never too much: requests that are not answered
// yet, and the bytes that they came in.
#pragma once

#include <cstddef>

#include "absl/status/status.h"

namespace cellar::host {

class Room {
 public:
  // Whether there is room for a request of so many bytes.
  absl::Status Check(size_t bytes) const;
  void Take(size_t bytes);
  void Give(size_t bytes);
  bool empty() const { return requests_ == 0; }

 private:
  size_t requests_ = 0;
  size_t bytes_ = 0;
};

}  // namespace cellar::host
