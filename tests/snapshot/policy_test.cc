// When snapshots are taken, and how many are kept.
#include <fstream>
#include <memory>
#include <string>

#include "tests/snapshot/snapshot_test.h"
#include "tests/testing/leftovers.h"

namespace cellar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PolicyTest : public WorkerTest {
 protected:
  SnapshotStatus Status() { return session().Snapshots().value_or(SnapshotStatus{}); }
  std::vector<uint32_t> Kept() {
    std::vector<uint32_t> cells;
    for (const KeptSnapshot& moment : Status().kept) cells.push_back(moment.before_cell);
    return cells;
  }
  bool WaitForSnapshotBefore(uint32_t cell) {
    return Eventually([&] { return !Kept().empty() && Kept().back() == cell; });
  }
};

class AutoTest : public PolicyTest {
 protected:
  SessionOptions Options() override { return {}; }
};

TEST_F(AutoTest, TakesOneWhenTheSessionIsIdle) {
  EXPECT_THAT(Kept(), IsEmpty());
  Run("x = 1");
  EXPECT_TRUE(WaitForSnapshotBefore(2));
  CellOutcome outcome = Run("x = 2\nimport os\nos.abort()");
  EXPECT_EQ(outcome.state, StateAfter::kRestored);
  EXPECT_EQ(Evaluate("x"), "1");
}

TEST_F(AutoTest, TakesOneAfterALongCell) {
  ASSERT_THAT(Run("import time; time.sleep(0.2)"), Succeeds());
  Run("x = 1");
  EXPECT_THAT(Kept(), ::testing::Contains(2u));
}

TEST_F(AutoTest, NamesTheCellsThatAreUndone) {
  Run("x = 1");
  ASSERT_TRUE(WaitForSnapshotBefore(2));
  // In one call, so that there is no idle gap.
  Run("x = 2");
  CellOutcome outcome = Run("import os\nos.abort()");
  // The machine may have been slow enough for another snapshot.
  EXPECT_THAT(outcome.state_detail,
              ::testing::AnyOf(HasSubstr("state is that of before cell 2: cell 2 is undone"),
                               HasSubstr("state is that of before cell 3")));
}

TEST_F(AutoTest, SaysWhenAWorkerDiedBetweenCells) {
  const int pid = std::stoi(Evaluate("import os; x = 1; os.getpid()"));
  ASSERT_TRUE(WaitForSnapshotBefore(2));
  kill(pid, SIGKILL);
  ASSERT_TRUE(Eventually([&] { return kill(pid, 0) != 0; }));
  ASSERT_TRUE(Eventually([&] { return session().Get("x").ok(); }));
  CellOutcome outcome = Run("x");
  EXPECT_THAT(outcome, ResultIs("1"));
  EXPECT_EQ(outcome.state, StateAfter::kRestored);
  EXPECT_EQ(outcome.state_detail, "the worker died of SIGKILL; state is that of before cell 2");
  EXPECT_EQ(Run("x").state, StateAfter::kKept);
}

TEST_F(AutoTest, ValuesThatWereSetCount) {
  Run("x = 1");
  ASSERT_TRUE(WaitForSnapshotBefore(2));
  ASSERT_TRUE(session().Set("x", 2).ok());
  ASSERT_TRUE(Eventually([&] { return !Status().kept.back().values_set_since; }));
  Run("import os\nos.abort()");
  EXPECT_EQ(Evaluate("x"), "2");
}

// An interrupt that an earlier cell had ended without was taken for one of a cell to come, and made
// way for it.
TEST_F(AutoTest, OneThatIsHeldUpInterruptsNobody) {
  StartedCell deaf(session(),
                   "import asyncio, signal, time\n"
                   "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
                   "print('on')\n"
                   "end = time.monotonic() + 0.6\n"
                   "while time.monotonic() < end: pass");
  deaf.WaitFor("on");
  session().Interrupt();
  deaf.Join();
  Run("log = []\n"
      "async def hold():\n"
      "  try:\n"
      "    await asyncio.sleep(0)\n"
      "    end = time.monotonic() + 1\n"
      "    while time.monotonic() < end: pass\n"
      "    log.append('held')\n"
      "  except BaseException as error: log.append(error)\n"
      "task = asyncio.create_task(hold())");
  EXPECT_THAT(Run("await task\nlog"), ResultIs("['held']"));
}

TEST_F(AutoTest, DoesNotForkUnderThreadsThatItDoesNotKnow) {
  Run("import ctypes, time\nlibc = ctypes.CDLL(None)\n"
      "t = ctypes.c_ulong()\n"
      "libc.pthread_create(ctypes.byref(t), None, libc.sleep, ctypes.c_void_p(1000))");
  EXPECT_TRUE(Eventually([&] { return !Status().note.empty(); }));
  EXPECT_EQ(Status().note,
            "no snapshot before cell 2: 1 threads of native code may not survive a fork");
  EXPECT_THAT(Kept(), IsEmpty());
}

TEST_F(AutoTest, ForksUnderThreadsOfOpenMp) {
  ASSERT_THAT(Run("import ctypes\nctypes.CDLL('" CELLAR_PARALLEL_SUM "').parallel_sum(1000, 4)"),
              ResultIs("499500"));
  EXPECT_TRUE(WaitForSnapshotBefore(2)) << Status().note;
}

class AlwaysTest : public PolicyTest {
 protected:
  SessionOptions Options() override {
    return {.snapshots = SnapshotOptions{.policy = SnapshotPolicy::kAlways, .kept = 3}};
  }
};

TEST_F(AlwaysTest, KeepsTheNewest) {
  for (int i = 0; i < 6; ++i) Run("x = 1");
  EXPECT_THAT(Kept(), ElementsAre(4u, 5u, 6u));
  EXPECT_EQ(Status().note, "");
}

TEST_F(AlwaysTest, TakesOneBeforeTheFirstCellToo) {
  EXPECT_EQ(Run("import os\nos.abort()").state_detail,
            "died of SIGABRT in <cell 1> line 2; state is that of before cell 1");
  EXPECT_THAT(Kept(), ElementsAre(1u));
}

TEST_F(AlwaysTest, ACellThatHasOpenedAllFilesItMayIsNoReasonToWaitForASnapshot) {
  Run("import os, resource\n"
      "resource.setrlimit(resource.RLIMIT_NOFILE, (512, "
      "resource.getrlimit(resource.RLIMIT_NOFILE)[1]))\n"
      "files = []\n"
      "try:\n  while True: files.append(os.open('/dev/null', 0))\nexcept OSError: pass");
  const auto open_before = CountOpenFds();
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(Run("1"), ResultIs("1"));
    EXPECT_THAT(Status().note, HasSubstr("no descriptors are free"));
  }
  EXPECT_LE(CountOpenFds(), open_before) << "what was made for a copy is still open";
}

class LittleMemoryTest : public PolicyTest {
 protected:
  SessionOptions Options() override {
    return {.snapshots = SnapshotOptions{.policy = SnapshotPolicy::kAlways, .memory_share = 0.001}};
  }
};

TEST_F(LittleMemoryTest, DropsTheOldestAndSaysSo) {
  Run("x = bytearray(200 << 20)");
  for (int i = 1; i < 4; ++i) Run("x[:] = bytes([" + std::to_string(i) + "]) * len(x)");
  EXPECT_TRUE(Eventually([&] { return Status().note.find("was dropped") != std::string::npos; }));
  EXPECT_LT(Kept().size(), 4u);
  EXPECT_EQ(Evaluate("x[0]"), "3");
}

class SharedMemoryTest : public PolicyTest {
 protected:
  static constexpr uint64_t kBlock = 60u << 20;
  static constexpr char kRewrite[] = "for i in range(0, len(block), 4096): block[i] += 1";

  // All snapshots together may hold as much as those of one session do here, and half of that more.
  SessionOptions Options() override {
    double available = 0;
    std::ifstream meminfo("/proc/meminfo");
    for (std::string key; meminfo >> key && key != "MemAvailable:";) {
    }
    meminfo >> available;
    const double share = 1.5 * 4 * kBlock / (available * 1024);
    return {.snapshots = SnapshotOptions{.policy = SnapshotPolicy::kAlways, .memory_share = share}};
  }
};

TEST_F(SharedMemoryTest, OneSessionIsToldWhatAnotherOnesSnapshotsHold) {
  const std::string make = "block = bytearray(" + std::to_string(kBlock) + ")\n";
  for (int i = 0; i < 5; ++i) Run(i == 0 ? make + kRewrite : kRewrite);
  EXPECT_TRUE(Eventually([&] { return Status().memory > 3 * kBlock; })) << "it is idle";
  EXPECT_EQ(Status().note, "");
  EXPECT_EQ(Kept().size(), 4u);
  absl::StatusOr<std::unique_ptr<Session>> other = host().Open(Options());
  ASSERT_TRUE(other.ok()) << other.status();
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE((*other)->Run(i == 0 ? make + kRewrite : kRewrite).ok());
  }
  const auto others = [&] { return (*other)->Snapshots().value_or(SnapshotStatus{}); };
  EXPECT_TRUE(Eventually([&] { return Kept().size() + others().kept.size() < 8; }));
  EXPECT_THAT(Status().note + others().note,
              HasSubstr("was dropped: all snapshots together held "));
}

class OffTest : public PolicyTest {};

TEST_F(OffTest, TakesNone) {
  Run("import time; time.sleep(0.2)");
  Run("x = 1");
  EXPECT_THAT(Kept(), IsEmpty());
  EXPECT_EQ(session().Rewind().status().message(),
            "no snapshot stands before the last cell; none is kept");
}

}  // namespace
}  // namespace cellar::testing
