// What processes call themselves (PR_SET_NAME), for those who look at the process table.
#pragma once

namespace cellar::wire {

inline constexpr char kKeeperName[] = "cellar-keeper";
inline constexpr char kSnapshotName[] = "cellar-snap";

}  // namespace cellar::wire
