// Going back to before a cell, on request.
#include <string>

#include "tests/snapshot/snapshot_test.h"
#include "tests/testing/leftovers.h"

namespace cellar::testing {
namespace {

class RewindTest : public SnapshotTest {};

TEST_F(RewindTest, UndoesTheLastCell) {
  Run("x = 1");
  Run("x = 2");
  EXPECT_EQ(Rewind().before_cell, 2u);
  CellOutcome outcome = Run("x, len(In)");
  EXPECT_THAT(outcome, ResultIs("(1, 3)"));
  EXPECT_EQ(outcome.execution_count, 2u);
  EXPECT_EQ(outcome.state, StateAfter::kKept);
}

TEST_F(RewindTest, GoesBackToAnyKeptCellAndForgetsWhatCameLater) {
  for (int i = 1; i <= 4; ++i) Run("x = " + std::to_string(i));
  EXPECT_EQ(Rewind(3).before_cell, 3u);
  EXPECT_EQ(Evaluate("x"), "2");
  auto status = session().Snapshots();
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(status->kept.back().before_cell, 3u);
  EXPECT_EQ(Rewind(3).before_cell, 3u) << "a snapshot can be used again";
  EXPECT_EQ(Evaluate("x"), "2");
}

TEST_F(RewindTest, SaysWhichSnapshotsThereAre) {
  for (int i = 1; i <= 7; ++i) Run("x = 1");
  absl::Status status = session().Rewind(2).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(),
            "no snapshot stands before cell 2; the kept ones stand before 4, 5, 6, 7");
}

TEST_F(RewindTest, BringsBackDirectoryVariablesAndRandomNumbers) {
  Run("import os, random, sys");
  Run("here, level = os.getcwd(), os.environ.get('LEVEL')");
  const std::string drawn = Evaluate("os.chdir('/'); os.environ['LEVEL'] = '1'; random.random()");
  Rewind();
  EXPECT_EQ(Evaluate("random.random()"), drawn);
  EXPECT_EQ(Evaluate("os.getcwd() == here, os.environ.get('LEVEL') == level"), "(True, True)");
}

TEST_F(RewindTest, EndsTheRunningCellFirst) {
  Run("x = 1");
  StartedCell cell(session(), "x = 2\nprint('ready')\nwhile True: pass");
  cell.WaitFor("ready");
  EXPECT_EQ(Rewind(2).before_cell, 2u);
  CellOutcome outcome = cell.Join();
  EXPECT_EQ(outcome.status, CellStatus::kCancelled);
  EXPECT_EQ(outcome.state, StateAfter::kRestored);
  EXPECT_EQ(outcome.state_detail, "ended by a rewind; state is that of before cell 2");
  EXPECT_EQ(Evaluate("x"), "1");
}

TEST_F(RewindTest, EndsWhatTheUndoneCellStarted) {
  Run("import subprocess");
  const std::string pid =
      Evaluate("p = subprocess.Popen(['sleep', '1000'], start_new_session=True); p.pid");
  Rewind();
  EXPECT_EQ(Evaluate("import os; os.path.exists('/proc/" + pid + "')"), "False");
}

TEST_F(RewindTest, AHundredTimesLeavesNothingBehind) {
  Run("x = 0");
  Run("x = 5");
  const auto open_before = CountOpenFds();
  for (int i = 0; i < 100; ++i) {
    Rewind(2);
    ASSERT_THAT(Run("x += 1; x"), ResultIs("1"));
  }
  Rewind(2);
  EXPECT_LE(CountOpenFds(), open_before + 8);
  EXPECT_EQ(Evaluate("import os; len(os.listdir('/proc/self/fd')) <= 20"), "True");
}

}  // namespace
}  // namespace cellar::testing
