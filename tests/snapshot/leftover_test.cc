// What a cell has left behind, a timer or a hook, and what it does to later cells and to the
// snapshots that it is in.
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/snapshot/snapshot_test.h"
#include "tests/testing/process_stat.h"
#include "tests/testing/scratch_directory.h"

namespace cellar::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kNotBegun[] =
    "the cell had not begun: something that an earlier cell left was in the way";

class LeftoverTest : public WorkerTest {
 protected:
  // The kill comes soon here.
  LeftoverTest() : WorkerTest(absl::Milliseconds(300)) {}
  SessionOptions Options() override { return {}; }

  void SetUp() override {
    WorkerTest::SetUp();
    Run("x = 1");
    ASSERT_TRUE(WaitForSnapshotBefore(2));
  }

  SnapshotStatus Status() { return session().Snapshots().value_or(SnapshotStatus{}); }
  bool WaitForSnapshotBefore(uint32_t cell) {
    return Eventually([&] {
      const SnapshotStatus status = Status();
      return !status.kept.empty() && status.kept.back().before_cell == cell;
    });
  }

  // A cell that leaves a task, which acts when it is told to; so do its copies.
  std::string LeaveTask(const std::string& act) {
    return absl::StrCat(
        "import asyncio, os, time\n"
        "async def act():\n"
        "    while not os.path.exists('",
        told_.string(),
        "'): await asyncio.sleep(0.001)\n"
        "    open('",
        acted_.string(), "', 'w')\n", act, "\nleft = asyncio.create_task(act())");
  }
  void Tell() {
    std::ofstream{told_};
    ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(acted_); }));
  }

  static constexpr char kExit[] = "    os._exit(4)";
  static constexpr char kHang[] =
      "    while True:\n"
      "        try: time.sleep(987)\n"
      "        except BaseException: pass";
  static constexpr char kSleep[] = "    time.sleep(987)";

 private:
  ScratchDirectory directory_;
  const std::filesystem::path told_ = directory_ / "told";
  const std::filesystem::path acted_ = directory_ / "acted";
};

TEST_F(LeftoverTest, ATaskThatEndsEveryCopyDoesNotEndTheSession) {
  Run(LeaveTask(kExit));
  ASSERT_TRUE(WaitForSnapshotBefore(3));
  Tell();
  CellOutcome outcome = Run("x, 'left' in globals()");
  EXPECT_THAT(outcome, ResultIs("(1, False)"));
  EXPECT_EQ(outcome.state, StateAfter::kRestored);
  EXPECT_EQ(outcome.state_detail,
            "the worker exited with code 4; state is that of before cell 2: cell 2 is undone");
  EXPECT_EQ(Run("x").state, StateAfter::kKept);
}

TEST_F(LeftoverTest, AllCellsAreNamedThatAreUndoneWhenSeveralSnapshotsAreOfNoUse) {
  Run(LeaveTask(kExit));
  for (uint32_t cell = 3; cell < 5; ++cell) {
    ASSERT_TRUE(WaitForSnapshotBefore(cell));
    Run("x += 1");
  }
  ASSERT_TRUE(WaitForSnapshotBefore(5));
  Tell();
  CellOutcome outcome = Run("x");
  EXPECT_THAT(outcome, ResultIs("1"));
  EXPECT_EQ(outcome.state_detail,
            "the worker exited with code 4; state is that of before cell 2: cells 2 to 4 are "
            "undone");
}

TEST_F(LeftoverTest, WithoutAnotherSnapshotTheSessionIsFresh) {
  Run(LeaveTask(kExit));
  for (uint32_t cell = 3; cell < 6; ++cell) {
    ASSERT_TRUE(WaitForSnapshotBefore(cell));
    Run("x += 1");
  }
  ASSERT_TRUE(WaitForSnapshotBefore(6));  // four are kept
  Tell();
  CellOutcome outcome = Run("'x' in globals()");
  EXPECT_THAT(outcome, ResultIs("False"));
  EXPECT_EQ(outcome.state, StateAfter::kFresh);
  EXPECT_EQ(outcome.state_detail,
            "the worker exited with code 4; this cell ran in a fresh session");
}

TEST_F(LeftoverTest, ATaskThatHoldsEveryCopyCostsOneCell) {
  Run(LeaveTask(kHang));
  ASSERT_TRUE(WaitForSnapshotBefore(3));
  Tell();
  CellOutcome outcome = Run("x = 2", {.timeout = absl::Seconds(1)});
  EXPECT_THAT(outcome, Fails("CellKilled"));
  EXPECT_EQ(outcome.error->evalue, kNotBegun);
  EXPECT_EQ(outcome.state, StateAfter::kRestored);
  EXPECT_EQ(outcome.state_detail,
            "was killed before it had begun; state is that of before cell 2: cell 2 is undone");
  outcome = Run("x, 'left' in globals()");
  EXPECT_THAT(outcome, ResultIs("(1, False)"));
  EXPECT_EQ(outcome.state, StateAfter::kKept);
}

TEST_F(LeftoverTest, ACellThatATaskKeptFromBeginningSaysSo) {
  Run(LeaveTask(kSleep));
  Tell();
  StartedCell cell(session(), "x = 2");
  // So long that it is no coincidence that it has not begun.
  absl::SleepFor(absl::Milliseconds(400));
  session().Interrupt();
  CellOutcome outcome = cell.Join();
  EXPECT_THAT(outcome, Fails("KeyboardInterrupt"));
  EXPECT_EQ(outcome.error->evalue, kNotBegun);
  EXPECT_EQ(outcome.status, CellStatus::kCancelled);
  EXPECT_EQ(outcome.state, StateAfter::kKept);
  EXPECT_EQ(Evaluate("x"), "1");
}

TEST_F(LeftoverTest, ACellThatDiesAgainAndAgainKeepsItsSnapshot) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Run("import os; os._exit(3)").state_detail,
              "exited with code 3; state is that of before cell 2");
  }
  EXPECT_EQ(Evaluate("x"), "1");
}

TEST_F(LeftoverTest, AWorkerThatWasStoppedBetweenCellsGoesOn) {
  const pid_t pid = std::stoi(Evaluate("import os; os.getpid()"));
  ASSERT_TRUE(WaitForSnapshotBefore(3));
  kill(pid, SIGSTOP);
  ASSERT_TRUE(Eventually([&] { return StatOf(pid)->state == 'T'; }));
  CellOutcome outcome = Run("x", {.timeout = kPatience});
  EXPECT_THAT(outcome, ResultIs("1"));
  EXPECT_EQ(outcome.state, StateAfter::kKept);
}

TEST_F(LeftoverTest, AForkHookThatHangsCostsTheSnapshotsOnly) {
  Run("import os, time; os.register_at_fork(before=lambda: time.sleep(987))");
  for (int i = 0; i < 3; ++i) {
    CellOutcome outcome = Run("x", {.timeout = kPatience});
    EXPECT_THAT(outcome, ResultIs("1"));
    EXPECT_EQ(outcome.state, StateAfter::kKept);
  }
  ASSERT_TRUE(Eventually([&] { return !Status().note.empty(); }));
  EXPECT_THAT(Status().note, HasSubstr("a hook of os.register_at_fork, or a lock that it waits "
                                       "for, held it up"));
  ASSERT_EQ(Status().kept.size(), 1u);
  EXPECT_EQ(Run("os._exit(3)").state_detail,
            "exited with code 3; state is that of before cell 2: cells 2 to 5 are undone");
}

TEST_F(LeftoverTest, AForkHookThatHangsInEveryCopyIsEnded) {
  Run("import os, time; os.register_at_fork(after_in_child=lambda: time.sleep(987))");
  ASSERT_TRUE(WaitForSnapshotBefore(3));
  EXPECT_EQ(Run("os._exit(3)").state_detail, "exited with code 3; state is that of before cell 3");
  EXPECT_EQ(Evaluate("x"), "1");
}

TEST_F(LeftoverTest, AnImportLockThatAThreadHoldsCostsTheSnapshotsOnly) {
  Run("import _imp, threading, time\n"
      "held = threading.Event()\n"
      "def hold():\n"
      "    _imp.acquire_lock()\n"
      "    held.set()\n"
      "    time.sleep(987)\n"
      "threading.Thread(target=hold, daemon=True).start()\n"
      "held.wait();");
  ASSERT_TRUE(Eventually([&] { return !Status().note.empty(); }));
  EXPECT_EQ(Status().note, "no snapshot before cell 3: a thread holds the import lock");
  EXPECT_EQ(Evaluate("x"), "1");
}

}  // namespace
}  // namespace cellar::testing
