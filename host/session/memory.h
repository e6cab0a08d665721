// How much memory the processes of a session use.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <vector>

namespace cellar::host {

// For each of the workers, the proportional set size in bytes of everything below its keeper: the
// worker, what its cells started, and copies of it. A worker that is gone has 0. Reads /proc, which
// takes milliseconds for gigabytes: not for the loop's thread.
std::map<pid_t, uint64_t> SessionMemory(const std::vector<pid_t>& workers);

}  // namespace cellar::host
