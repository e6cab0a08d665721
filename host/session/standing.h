// Going back, and going on twice: what is asked of a session, and where it stands then.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cellar::host {

// Where a session stands that has gone back to a snapshot, or has branched off.
struct Standing {
  uint32_t before_cell = 0;
  std::vector<std::string> not_carried;  // what a fork cannot take over, one phrase each
};

struct BranchOptions {
  // A kept snapshot to branch from; nothing = the present state.
  std::optional<uint32_t> before_cell;
  bool same_random = false;  // draw the same random numbers as the original
  std::string id;            // SessionOptions::id of the branch; empty = that of the original
};

}  // namespace cellar::host
