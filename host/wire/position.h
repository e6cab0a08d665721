// Where in a worker's output something stands.
#pragma once

#include <cstdint>

namespace cellar::wire {

// How far each source of output had come at some moment: bytes since the worker started.
struct Position {
  uint64_t ring = 0;
  uint64_t out = 0;  // pipe behind fd 1
  uint64_t err = 0;  // pipe behind fd 2
};

}  // namespace cellar::wire
