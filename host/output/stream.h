// The two text streams of a worker.
#pragma once

#include <cstdint>

namespace cellar::host {

enum class Stream : uint8_t { kStdout = 1, kStderr = 2 };

}  // namespace cellar::host
