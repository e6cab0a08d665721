// A fixture whose sessions take a snapshot before every cell, so that no test depends on time.
#pragma once

#include "tests/testing/worker_test.h"

namespace cellar::testing {

class SnapshotTest : public WorkerTest {
 protected:
  explicit SnapshotTest(absl::Duration grace = absl::Seconds(3)) : WorkerTest(grace) {}

  SessionOptions Options() override {
    return {.snapshots = SnapshotOptions{.policy = SnapshotPolicy::kAlways}};
  }

  Standing Rewind(std::optional<uint32_t> before_cell = std::nullopt) {
    absl::StatusOr<Standing> standing = session().Rewind(before_cell);
    if (standing.ok()) return *std::move(standing);
    ADD_FAILURE() << standing.status();
    return {};
  }

  Branched Branch(BranchOptions options = {}) {
    absl::StatusOr<Branched> branched = session().Branch(options);
    if (branched.ok()) return *std::move(branched);
    ADD_FAILURE() << branched.status();
    return {};
  }
};

}  // namespace cellar::testing
