// What becomes of a session whose worker dies or is killed, when there is a snapshot.
#include <string>

#include "tests/snapshot/snapshot_test.h"

namespace cellar::testing {
namespace {

class RestoreTest : public SnapshotTest {};

TEST_F(RestoreTest, GoesOnAsBeforeTheCellThatCrashed) {
  Run("x = [1, 2]");
  CellOutcome outcome = Run("x.append(3)\nimport ctypes\nctypes.string_at(0)");
  EXPECT_EQ(outcome.status, CellStatus::kError);
  EXPECT_EQ(outcome.state, StateAfter::kRestored);
  EXPECT_EQ(outcome.state_detail,
            "died of SIGSEGV in <cell 2> line 3; state is that of before cell 2");
  CellOutcome next = Run("x");
  EXPECT_THAT(next, ResultIs("[1, 2]"));
  EXPECT_EQ(next.execution_count, 2u);
  EXPECT_EQ(next.state, StateAfter::kKept);
}

}  // namespace
}  // namespace cellar::testing
