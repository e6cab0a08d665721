// When a session takes a snapshot of its state.
#pragma once

namespace cellar::host {

enum class SnapshotPolicy {
  kAuto,    // where it costs no one time: when the session has nothing to do, or after long cells
  kAlways,  // before every cell
  kOff,
};

}  // namespace cellar::host
