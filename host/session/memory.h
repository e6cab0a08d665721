// How much memory the processes of a session use.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <vector>

namespace cellar::host {

// For each of the workers, the bytes that it and all that its cells started use: pages that several
// processes share count once. Snapshots and sessions that branched off, though they live below the
// same keeper, do not count. A worker that is gone has 0. Reads /proc, which takes milliseconds for
// gigabytes: not for the loop's thread.
std::map<pid_t, uint64_t> SessionMemory(const std::vector<pid_t>& workers);

}  // namespace cellar::host
