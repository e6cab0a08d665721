// What the snapshots of all sessions of a host hold together. When that is more than they may, the
// session whose snapshots hold most gives up its oldest one.
//
// Lives on the loop's thread.
#pragma once

#include <cstdint>
#include <set>

namespace cellar::host {

class Snapshots;

class SnapshotAccount {
 public:
  // Those of a session, until Remove().
  void Add(Snapshots& snapshots) { members_.insert(&snapshots); }
  void Remove(Snapshots& snapshots) { members_.erase(&snapshots); }

  // What some of them hold is known anew. One snapshot at most is given up; what that has changed
  // is measured, and so leads here again.
  void Check();

 private:
  std::set<Snapshots*> members_;
};

}  // namespace cellar::host
