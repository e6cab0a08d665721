// The descriptors that a worker is born with, in the order in which Fork and Copy carry them.
#pragma once

#include <cstddef>

namespace cellar::wire {

enum BirthFd {
  kChannelFd,
  kRingFd,
  kDoorbellFd,
  kStdoutFd,
  kStderrFd,
  kFaultsFd,
  kKeeperFd,
  kKeeperHostAliveFd,  // a template's keepers have it already
  kBirthFdCount
};
// Of Fork; for Copy see CopyFdCount().
inline constexpr size_t kForkFdCount = kKeeperFd + 1;

}  // namespace cellar::wire
