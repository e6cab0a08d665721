// The descriptors that cells have opened, as a copy of the worker must treat them: what is shared
// with the original (sockets, pipes, terminals, devices, the offset of a file, a lock on it) is
// replaced under the same number, so that neither disturbs the other.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace cellar::embed {

struct UserFd {
  enum class Kind { kFile, kCapturedOut, kCapturedErr, kEpoll, kEventfd, kDead };
  int number = -1;
  Kind kind = Kind::kDead;
  int status_flags = 0;  // F_GETFL
  bool close_on_exec = false;
  off_t offset = 0;  // of a file, at the moment of the copy
};

// All but `own`. To be called before the fork: the original goes on and moves its offsets.
// `out_inode` and `err_inode` are those of the pipes behind fd 1 and 2.
std::vector<UserFd> ListUserFds(const std::set<int>& own, uint64_t out_inode, uint64_t err_inode);

// In the copy, before ReplaceUserFds: what will not be there, or is not undone, one phrase each.
std::vector<std::string> DescribeUserFds(const std::vector<UserFd>& fds);

// The phrase for an open device. A context on a GPU, which a fork does not carry, is known by it.
std::string DescribeDevice(const std::string& path);

// In the copy, after its own descriptors have been put in place. Files that could not be opened
// again, one phrase each; they are dead from then on.
std::vector<std::string> ReplaceUserFds(std::vector<UserFd>& fds);

}  // namespace cellar::embed
