// Every way in which a worker dies, with every answer that a client may ask for: what the result
// says, and, by a file that the cell writes, how often the cell really ran.
#include <csignal>

#include "tests/eval/calls_test.h"

namespace cellar::host {
namespace {

using ::testing::HasSubstr;

// The cell notes that it runs, then does `end`.
struct Death {
  const char* name;
  const char* end;
  const char* told;           // in the result's state_detail
  bool from_outside = false;  // killed by the test once it runs
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
     "of memory, more than the cap of 100 MiB, in cell "},
};

struct Row {
  Death death;
  Retry retry;
  bool has_state;  // cells ran before, so that a retry finds another state
};

class DeathTableTest : public CallsTest, public testing::WithParamInterface<Row> {
 protected:
  size_t Runs() const { return ReadFile("runs").size(); }
};

std::vector<Row> Table() {
  std::vector<Row> rows;
  for (const Death& death : kDeaths) {
    for (Retry retry : {Retry::kNever, Retry::kOnce}) {
      for (bool has_state : {false, true}) rows.push_back({death, retry, has_state});
    }
  }
  return rows;
}

TEST_P(DeathTableTest, TheResultSaysWhatHappened) {
  const auto& [death, retry, has_state] = GetParam();
  Start({}, [](Launch& launch) { launch.session.memory_cap = 100 << 20; });
  if (has_state) {
    ASSERT_EQ(Value("a", "x = 1; x"), "1");
  }
  auto call = Submit(
      {.session = "a",
       .retry = retry,
       .cells = {{.code = std::string("open('runs', 'a').write('.')\n") + death.end, .timeout = {}},
                 {.code = "2"}}});
  const bool runs_again = retry == Retry::kOnce && !has_state;
  if (death.from_outside) {
    for (size_t run = 1; run <= (runs_again ? 2 : 1); ++run) {
      RunUntil([&] { return Runs() == run; });
      kill(registry_->Find("a")->worker_pid(), SIGKILL);
    }
  }
  const absl::StatusOr<CallResult> result = Finish(*call);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->status, CallStatus::kError);
  EXPECT_EQ(result->session_state, "lost");
  const CellResult& cell = result->cells[0];
  EXPECT_EQ(cell.status, CellRunStatus::kError);
  EXPECT_EQ(cell.outcome.state, StateAfter::kLost);
  EXPECT_THAT(cell.outcome.state_detail, HasSubstr(death.told));
  EXPECT_EQ(cell.runs, runs_again ? 2 : 1);
  EXPECT_EQ(Runs(), runs_again ? 2u : 1u);
  EXPECT_EQ(result->cells[1].status, CellRunStatus::kNotRun);

  const absl::StatusOr<CallResult> next = Run("a", "'x' in globals()");
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_EQ(ValueOf(*next), "False");
  EXPECT_EQ(next->session_state, "fresh");
  EXPECT_THAT(next->session_reason, HasSubstr(death.told));
}

INSTANTIATE_TEST_SUITE_P(EveryDeath, DeathTableTest, testing::ValuesIn(Table()),
                         [](const testing::TestParamInfo<Row>& info) {
                           return std::string(info.param.death.name) +
                                  (info.param.retry == Retry::kOnce ? "RetryOnce" : "RetryNever") +
                                  (info.param.has_state ? "WithState" : "First");
                         });

TEST_F(DeathTableTest, ARetryThatGoesWellIsComplete) {
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
  EXPECT_EQ(result->session_state, "kept");
  EXPECT_EQ(result->cells[0].outcome.stdout_text(), "so far\nso far\n");
  EXPECT_THAT(result->cells[0].outcome.notices.front(), HasSubstr("exited with code 3"));
}

TEST_F(DeathTableTest, TheRetryOfTheSettingsHoldsForCallsThatDoNotSay) {
  Start({}, [](Launch& launch) { launch.settings.retry = Retry::kOnce; });
  EXPECT_EQ(Run("a", "import os; os._exit(3)")->cells[0].runs, 2);
}

TEST_F(DeathTableTest, AWorkerFoundDeadBeforeACellIsReplacedAndTheCellRunsOnce) {
  for (Retry retry : {Retry::kNever, Retry::kOnce}) {
    ASSERT_EQ(Value("a", "x = 1; x"), "1");
    const int worker = registry_->Find("a")->worker_pid();
    kill(worker, SIGKILL);
    const absl::StatusOr<CallResult> result =
        Run({.session = "a", .retry = retry, .cells = {{.code = "open('runs', 'a').write('.')"}}});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->status, CallStatus::kOk);
    EXPECT_EQ(result->session_state, "fresh");
    EXPECT_THAT(result->session_reason, HasSubstr("died of SIGKILL"));
    EXPECT_EQ(result->cells[0].runs, 1);
    EXPECT_EQ(Runs(), retry == Retry::kNever ? 1u : 2u);
  }
}

TEST_F(DeathTableTest, FourDeathsInARowAndTheSessionRefusesUntilReset) {
  for (int i = 0; i < 4; ++i) {
    const absl::StatusOr<CallResult> result =
        Run("a", "open('runs', 'a').write('.'); import os; os._exit(3)");
    ASSERT_TRUE(result.ok()) << result.status();
  }
  const absl::Status refused = Run("a", "open('runs', 'a').write('.')").status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(refused.message(),
            "the session's worker died 4 times in a row, the last time it exited with code 3; "
            "reset the session to go on");
  EXPECT_EQ(Runs(), 4u);
  EXPECT_EQ(Value("b", "1"), "1");
  const absl::StatusOr<CallResult> reset =
      Run({.session = "a", .cells = {{.code = "'back'", .reset = true}}});
  ASSERT_TRUE(reset.ok()) << reset.status();
  EXPECT_EQ(ValueOf(*reset), "'back'");
  EXPECT_EQ(reset->session_state, "kept");
}

TEST_F(DeathTableTest, AGoodCellBetweenDeathsEndsTheRow) {
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(Run("a", "import os; os._exit(3)").ok());
    if (i == 2) {
      EXPECT_EQ(Value("a", "1"), "1");
    }
  }
  EXPECT_EQ(Value("a", "1"), "1");
}

TEST_F(DeathTableTest, TimeOutsThatKillAreNotCountedAsDeaths) {
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
