// Every way in which a worker dies, with every answer that a client may ask for: what the result
// says, and, by a file that the cell writes, how often the cell really ran.
#include <csignal>

#include "tests/testing/calls_test.h"
#include "tests/testing/sanitized.h"

namespace cellar::host {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

// The cell notes that it runs, then does `end`.
struct Death {
  const char* name;
  const char* end;
  const char* told;           // in the result's state_detail
  bool from_outside = false;  // killed by the test once it runs
  uint64_t memory_cap = 0;
};

constexpr Death kDeaths[] = {
    {"KillFromOutside", "import time; time.sleep(60)", "died of SIGKILL", true},
    {"Segfault", "import ctypes; ctypes.string_at(0)", "died of SIGSEGV"},
    {"Abort", "import os; os.abort()", "died of SIGABRT"},
    {"Exit", "import os; os._exit(3)", "exited with code 3"},
    {"MemoryCap",
     "import mmap; block = mmap.mmap(-1, 150 << 20)\n"
     "for i in range(150): block.write(b'x' * (1 << 20))\n"
     "import time; time.sleep(60)",
     "of memory, more than the cap of 100 MiB, in cell ", false, 100 << 20},
};

// What there is to go back to when the worker dies.
enum class Before {
  kNothing,        // the session's first cell
  kState,          // cells ran before, and there is no snapshot
  kSnapshot,       // one that stands directly before the cell
  kOlderSnapshot,  // one that stands before the cell before
};

constexpr const char* kNameOfBefore[] = {"First", "WithState", "WithSnapshot", "WithOlderSnapshot"};

// `auto` refuses to copy a worker with threads that it does not know.
constexpr char kPreventSnapshots[] =
    "x = 2\nimport ctypes\nlibc, thread = ctypes.CDLL(None), ctypes.c_ulong()\n"
    "libc.pthread_create(ctypes.byref(thread), None, libc.sleep, ctypes.c_void_p(1000))";

struct Row {
  Death death;
  Retry retry;
  Before before;

  SnapshotPolicy policy() const {
    if (before == Before::kSnapshot) return SnapshotPolicy::kAlways;
    return before == Before::kOlderSnapshot ? SnapshotPolicy::kAuto : SnapshotPolicy::kOff;
  }
  bool restores() const { return before == Before::kSnapshot || before == Before::kOlderSnapshot; }
  // Only when the state is then that of directly before the cell.
  bool runs_again() const {
    return retry == Retry::kOnce && (before == Before::kNothing || before == Before::kSnapshot);
  }
};

class DeathsTest : public CallsTest {
 protected:
  void SetUp() override {
    CallsTest::SetUp();
    StartWith(SnapshotPolicy::kOff);
  }

  void StartWith(SnapshotPolicy policy, uint64_t memory_cap = 0) {
    Start({}, [&](Launch& launch) {
      launch.session.snapshots.policy = policy;
      launch.session.memory_cap = memory_cap;
    });
  }

  size_t Runs() const { return ReadFile("runs").size(); }
};

class DeathTableTest : public DeathsTest, public testing::WithParamInterface<Row> {
 protected:
  // Runs the cells that come before the one that dies.
  void Prepare(Before before) {
    if (before == Before::kNothing) return;
    ASSERT_EQ(Value("a", "x = 1; x"), "1");
    if (before != Before::kOlderSnapshot) return;
    RunUntil([this] { return !registry_->Find("a")->snapshots().kept.empty(); });
    ASSERT_TRUE(Run("a", kPreventSnapshots).ok());
  }
};

std::vector<Row> Table() {
  std::vector<Row> rows;
  for (const Death& death : kDeaths) {
    for (Retry retry : {Retry::kNever, Retry::kOnce}) {
      for (Before before :
           {Before::kNothing, Before::kState, Before::kSnapshot, Before::kOlderSnapshot}) {
        rows.push_back({death, retry, before});
      }
    }
  }
  return rows;
}

TEST_P(DeathTableTest, TheResultSaysWhatHappened) {
  const Row& row = GetParam();
  const Death& death = row.death;
  if (kWorkerSanitized && death.memory_cap != 0) {
    GTEST_SKIP() << "shadow memory counts against the cap";
  }
  StartWith(row.policy(), death.memory_cap);
  Prepare(row.before);
  auto call = Submit(
      {.session = "a",
       .retry = row.retry,
       .cells = {{.code = std::string("open('runs', 'a').write('.')\n") + death.end, .timeout = {}},
                 {.code = "2"}}});
  const size_t expected_runs = row.runs_again() ? 2 : 1;
  if (death.from_outside) {
    for (size_t run = 1; run <= expected_runs; ++run) {
      RunUntil([&] { return Runs() == run && registry_->Find("a")->worker_pid() > 0; });
      kill(registry_->Find("a")->worker_pid(), SIGKILL);
    }
  }
  const absl::StatusOr<CallResult> result = Finish(*call);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->status, CallStatus::kError);
  EXPECT_EQ(result->session_state, row.restores() ? StateAfter::kRestored : StateAfter::kLost);
  const CellResult& cell = result->cells[0];
  EXPECT_EQ(cell.status, CellRunStatus::kError);
  EXPECT_EQ(cell.outcome.state, row.restores() ? StateAfter::kRestored : StateAfter::kLost);
  EXPECT_THAT(cell.outcome.state_detail, HasSubstr(death.told));
  if (row.restores()) {
    EXPECT_THAT(cell.outcome.state_detail,
                EndsWith(row.before == Before::kSnapshot
                             ? "; state is that of before cell 2"
                             : "; state is that of before cell 2: cell 2 is undone"));
  }
  EXPECT_EQ(cell.runs, expected_runs);
  EXPECT_EQ(Runs(), expected_runs);
  EXPECT_EQ(result->cells[1].status, CellRunStatus::kNotRun);

  const absl::StatusOr<CallResult> next = Run("a", "globals().get('x')");
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_EQ(ValueOf(*next), row.restores() ? "1" : "nothing");
  EXPECT_EQ(next->session_state, row.restores() ? StateAfter::kKept : StateAfter::kFresh);
  if (!row.restores()) {
    EXPECT_THAT(next->session_reason, HasSubstr(death.told));
  }
}

INSTANTIATE_TEST_SUITE_P(EveryDeath, DeathTableTest, testing::ValuesIn(Table()),
                         [](const testing::TestParamInfo<Row>& info) {
                           return std::string(info.param.death.name) +
                                  (info.param.retry == Retry::kOnce ? "RetryOnce" : "RetryNever") +
                                  kNameOfBefore[static_cast<int>(info.param.before)];
                         });

TEST_F(DeathsTest, ARetryThatGoesWellIsComplete) {
  const absl::StatusOr<CallResult> result =
      Run({.session = "a",
           .retry = Retry::kOnce,
           .cells = {{.code = "import os\nprint('so far', flush=True)\n"
                              "first = not os.path.exists('runs')\nopen('runs', 'a').write('.')\n"
                              "if first: os._exit(3)\n42"}}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->status, CallStatus::kOk);
  EXPECT_EQ(ValueOf(*result), "42");
  EXPECT_EQ(result->cells[0].runs, 2);
  EXPECT_EQ(Runs(), 2u);
  EXPECT_EQ(result->session_state, StateAfter::kKept);
  EXPECT_EQ(result->cells[0].outcome.stdout_text(), "so far\nso far\n");
  EXPECT_THAT(result->cells[0].outcome.notices.front(), HasSubstr("exited with code 3"));
}

TEST_F(DeathsTest, TheRetryOfTheSettingsHoldsForCallsThatDoNotSay) {
  Start({}, [](Launch& launch) { launch.settings.retry = Retry::kOnce; });
  EXPECT_EQ(Run("a", "import os; os._exit(3)")->cells[0].runs, 2);
}

// The deaths that are not one cell's, with every answer and with and without a snapshot.
struct Policy {
  Retry retry;
  bool snapshots;
};

class DeathPolicyTest : public DeathsTest, public testing::WithParamInterface<Policy> {
 protected:
  void SetUp() override {
    DeathsTest::SetUp();
    if (GetParam().snapshots) StartWith(SnapshotPolicy::kAlways);
  }

  absl::StatusOr<CallResult> RunCell(const std::string& code) {
    return Run({.session = "a", .retry = GetParam().retry, .cells = {{.code = code}}});
  }
};

INSTANTIATE_TEST_SUITE_P(EveryPolicy, DeathPolicyTest,
                         testing::Values(Policy{Retry::kNever, false}, Policy{Retry::kNever, true},
                                         Policy{Retry::kOnce, false}, Policy{Retry::kOnce, true}),
                         [](const testing::TestParamInfo<Policy>& info) {
                           return std::string(info.param.retry == Retry::kOnce ? "RetryOnce"
                                                                               : "RetryNever") +
                                  (info.param.snapshots ? "WithSnapshot" : "WithoutSnapshot");
                         });

TEST_P(DeathPolicyTest, AWorkerFoundDeadBeforeACellIsReplacedAndTheCellRunsOnce) {
  ASSERT_EQ(Value("a", "x = 1; x"), "1");
  // With `always`, a snapshot is taken before the next cell; so one stands before cell 2.
  ASSERT_EQ(Value("a", "x"), "1");
  kill(registry_->Find("a")->worker_pid(), SIGKILL);
  const absl::StatusOr<CallResult> result =
      RunCell("open('runs', 'a').write('.'); globals().get('x')");
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->status, CallStatus::kOk);
  EXPECT_EQ(result->session_state,
            GetParam().snapshots ? StateAfter::kRestored : StateAfter::kFresh);
  EXPECT_EQ(ValueOf(*result), GetParam().snapshots ? "1" : "nothing");
  EXPECT_THAT(result->session_reason, HasSubstr("died of SIGKILL"));
  EXPECT_EQ(result->cells[0].runs, 1);
  EXPECT_EQ(Runs(), 1u);
}

TEST_P(DeathPolicyTest, FourDeathsInARowAndTheSessionRefusesUntilReset) {
  ASSERT_EQ(Value("a", "x = 1; x"), "1");
  int runs = 0;
  absl::Status refused;
  while (refused.ok() && runs <= 4) {
    const absl::StatusOr<CallResult> result =
        RunCell("open('runs', 'a').write('.'); import os; os._exit(3)");
    refused = result.status();
    if (result.ok()) runs += result->cells[0].runs;
  }
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(refused.message(),
            "the session's worker died 4 times in a row, the last time it exited with code 3; "
            "reset the session to go on");
  EXPECT_EQ(runs, 4);
  EXPECT_EQ(Runs(), 4u);
  EXPECT_EQ(Value("b", "1"), "1");
  const absl::StatusOr<CallResult> reset =
      Run({.session = "a", .cells = {{.code = "'x' in globals()", .reset = true}}});
  ASSERT_TRUE(reset.ok()) << reset.status();
  EXPECT_EQ(ValueOf(*reset), "False");
  EXPECT_EQ(reset->session_state, StateAfter::kKept);
}

TEST_F(DeathsTest, AGoodCellBetweenDeathsEndsTheRow) {
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(Run("a", "import os; os._exit(3)").ok());
    if (i == 2) {
      EXPECT_EQ(Value("a", "1"), "1");
    }
  }
  EXPECT_EQ(Value("a", "1"), "1");
}

TEST_F(DeathsTest, TimeOutsThatKillAreNotCountedAsDeaths) {
  Start({}, [](Launch& launch) { launch.session.interrupt_grace = absl::Milliseconds(50); });
  for (int i = 0; i < 5; ++i) {
    const absl::StatusOr<CallResult> result =
        Run({.session = "a",
             .cells = {{.code = "import ctypes; ctypes.PyDLL(None).sleep(60)",
                        .timeout = absl::Milliseconds(20)}}});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->status, CallStatus::kCancelled);
  }
}

}  // namespace
}  // namespace cellar::host
