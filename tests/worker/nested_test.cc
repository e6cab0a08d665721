// Cells that are run to answer a call of the same session: inside the wait, or refused at once.
#include <signal.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "tests/worker/bridge_fixture.h"

namespace cellar::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class NestedTest : public BridgeTest {
 protected:
  void SetUp() override {
    BridgeTest::SetUp();
    nested_.clear();
    timeout_ = absl::ZeroDuration();
    // Runs its argument as a cell on the session that asks, and answers with the result.
    tools_->Serve("run", [this](const BridgeCall& call, BridgeReply reply) {
      const std::string code = nlohmann::json::parse(call.args).get<std::string>();
      threads_.Start([this, code, reply, id = call.id] {
        absl::StatusOr<CellOutcome> outcome =
            session().Run(code, {.timeout = timeout_, .parent = id});
        if (!outcome.ok()) return reply({.error = std::string(outcome.status().message())});
        {
          std::lock_guard lock(mutex_);
          nested_.push_back(*outcome);
        }
        reply({.value = nlohmann::json(outcome->result().value_or("nothing")).dump()});
      });
    });
  }
  void TearDown() override {
    BridgeTest::TearDown();
    tools_->Remove("run");
  }

  // The outcome of a cell whose call was refused.
  void ExpectHeld(const CellOutcome& outcome) {
    ASSERT_THAT(outcome, Fails("BridgeError"));
    EXPECT_EQ(outcome.error->evalue, "session is held by the cell that waits for you");
  }

  std::mutex mutex_;
  std::vector<CellOutcome> nested_;
  absl::Duration timeout_;
};

TEST_F(NestedTest, PlainCodeRunsInTheSameNamespace) {
  EXPECT_THAT(Run("y = 41\nanswer = call('run', 'x = y + 1\\nx')\nanswer, x"),
              ResultIs("('42', 42)"));
  EXPECT_THAT(Run("Out[3], _3"), ResultIs("(42, 42)"));
}

TEST_F(NestedTest, OutputsBelongToTheCellThatMadeThem) {
  CellOutcome outcome = Run("print('a')\ncall('run', 'print(\"inner\")')\nprint('b')");
  EXPECT_EQ(outcome.stdout_text(), "a\nb\n");
  ASSERT_EQ(nested_.size(), 1u);
  EXPECT_EQ(nested_[0].stdout_text(), "inner\n");
  EXPECT_EQ(nested_[0].execution_count, 3u);
}

TEST_F(NestedTest, ANoticeIsInTheOutcomeOfTheCellItIsAbout) {
  CellOutcome outcome =
      Run("import builtins\nkeep = builtins.ascii\nbuiltins.ascii = len\ncall('run', '1/0')\n"
          "builtins.ascii = keep");
  ASSERT_THAT(outcome, Succeeds());
  EXPECT_THAT(outcome.notices, IsEmpty());
  ASSERT_EQ(nested_.size(), 1u);
  EXPECT_THAT(nested_[0].notices,
              ::testing::ElementsAre("builtins that cells have changed: ascii"));
}

TEST_F(NestedTest, AnErrorInsideStaysInside) {
  EXPECT_THAT(Run("call('run', '1/0')"), ResultIs("'nothing'"));
  ASSERT_EQ(nested_.size(), 1u);
  EXPECT_THAT(nested_[0], Fails("ZeroDivisionError"));
  EXPECT_THAT(Run("call('run', 'raise SystemExit(3)')"), ResultIs("'nothing'"));
  EXPECT_THAT(Run("call('run', 'def')"), ResultIs("'nothing'"));
  EXPECT_THAT(nested_[2], Fails("SyntaxError"));
}

TEST_F(NestedTest, CellsNestInEachOther) {
  EXPECT_THAT(Run(R"(
def deeper(n): return call('run', f'deeper({n - 1})') if n else 'bottom'
deeper(5)
)"),
              ResultIs(HasSubstr("bottom")));
  EXPECT_EQ(nested_.size(), 5u);
}

TEST_F(NestedTest, ManyRunOneAfterTheOther) {
  EXPECT_THAT(Run("for i in range(200): assert call('run', f'{i}+1') == str(i + 1)\ni"),
              ResultIs("199"));
}

TEST_F(NestedTest, WhatAwaitsIsRefusedAtOnce) {
  ExpectHeld(Run("call('run', 'import asyncio\\nawait asyncio.sleep(0)')"));
  EXPECT_THAT(Run("call('run', '1')"), ResultIs("'1'"));
}

TEST_F(NestedTest, ACallOfAnotherThreadOrOfATaskIsRefusedAtOnce) {
  ExpectHeld(Run(R"(
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(1) as pool: pool.submit(call, 'run', '1').result()
)"));
  ExpectHeld(Run("await acall('run', '1')"));
}

TEST_F(NestedTest, ASecondOneForTheSameCallIsRefusedWhileTheFirstRuns) {
  std::unique_ptr<StartedCell> cell = StartCalling("call('never', 0)", 1);
  const auto [call, reply] = log_->calls()[0];
  absl::StatusOr<CellOutcome> first = absl::UnknownError("");
  std::thread running([&, id = call.id] {
    first = session().Run("call('never', 1)", {.timeout = {}, .parent = id});
  });
  ASSERT_TRUE(Eventually([] { return log_->calls().size() == 2; }));
  absl::StatusOr<CellOutcome> second = session().Run("2", {.parent = call.id});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  log_->calls()[1].second({.value = "\"inner\""});
  running.join();
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_THAT(*first, ResultIs("'inner'"));
  reply({.value = "\"outer\""});
  EXPECT_THAT(cell->Join(), ResultIs("'outer'"));
  EXPECT_FALSE(session().Run("3", {.parent = call.id}).ok());
}

TEST_F(NestedTest, TheOuterAnswerMayComeFirst) {
  std::unique_ptr<StartedCell> cell = StartCalling("call('never', 0)", 1);
  const auto [call, reply] = log_->calls()[0];
  absl::StatusOr<CellOutcome> inner = absl::UnknownError("");
  std::thread running([&, id = call.id] {
    inner = session().Run("call('never', 1)", {.timeout = {}, .parent = id});
  });
  ASSERT_TRUE(Eventually([] { return log_->calls().size() == 2; }));
  reply({.value = "\"outer\""});
  log_->calls()[1].second({.value = "\"inner\""});
  running.join();
  EXPECT_THAT(cell->Join(), ResultIs("'outer'"));
  ASSERT_TRUE(inner.ok()) << inner.status();
  EXPECT_THAT(*inner, ResultIs("'inner'"));
}

TEST_F(NestedTest, TheOuterAnswerMayComeWhileSomebodyElseIsAskedInside) {
  std::unique_ptr<StartedCell> cell = StartCalling("call('never', 0)", 1);
  const auto [call, reply] = log_->calls()[0];
  Watcher watcher;
  absl::StatusOr<CellOutcome> inner = absl::UnknownError("");
  std::thread running([&, id = call.id] {
    inner = session().Run(
        "import select\n"
        "with bridge.host.elsewhere() as host:\n"
        "    print('waiting')\n"
        "    select.select([host], [], [])\n"
        "    host.hear()",
        {.timeout = {}, .observer = &watcher, .parent = id});
  });
  EXPECT_TRUE(watcher.WaitFor("waiting"));
  reply({.value = "\"outer\""});
  running.join();
  EXPECT_THAT(cell->Join(), ResultIs("'outer'"));
  ASSERT_TRUE(inner.ok()) << inner.status();
  EXPECT_TRUE(inner->ok());
}

TEST_F(NestedTest, BothAreToldThatTheStateIsLost) {
  const int pid = std::stoi(*Run("os.getpid()").result());
  kill(pid, SIGKILL);
  ASSERT_TRUE(Eventually([&] { return kill(pid, 0) != 0; }));
  CellOutcome outcome = Run("from cellar_runtime import bridge\nbridge.host.call('run', '1')");
  EXPECT_EQ(outcome.state, StateAfter::kFresh);
  ASSERT_EQ(nested_.size(), 1u);
  EXPECT_EQ(nested_[0].state, StateAfter::kFresh);
  EXPECT_EQ(Run("1").state, StateAfter::kKept);
}

TEST_F(NestedTest, ATimeOutInsideEndsTheInnerCellOnly) {
  timeout_ = absl::Milliseconds(200);
  EXPECT_THAT(Run("call('run', 'while True: pass')"), ResultIs("'nothing'"));
  ASSERT_EQ(nested_.size(), 1u);
  EXPECT_TRUE(nested_[0].timed_out);
  EXPECT_EQ(nested_[0].status, CellStatus::kCancelled);
  EXPECT_EQ(nested_[0].state, StateAfter::kKept);
}

TEST_F(NestedTest, TheClockOfTheOuterCellStandsStillMeanwhile) {
  EXPECT_THAT(
      Run("call('run', 'import time; time.sleep(0.6)')", {.timeout = absl::Milliseconds(300)}),
      ResultIs("'nothing'"));
}

TEST_F(NestedTest, AnInterruptEndsBoth) {
  for (int i = 0; i < 5; ++i) {
    nested_.clear();
    StartedCell cell(session(), "call('run', 'call(\"never\", 0)')");
    ASSERT_TRUE(Eventually([&] { return log_->calls().size() == static_cast<size_t>(i) + 1; }));
    session().Interrupt();
    CellOutcome outcome = cell.Join();
    EXPECT_EQ(outcome.status, CellStatus::kCancelled) << ::testing::PrintToString(outcome);
    EXPECT_THAT(outcome, Fails("KeyboardInterrupt"));
    EXPECT_EQ(outcome.state, StateAfter::kKept);
    threads_.Join();
    ASSERT_EQ(nested_.size(), 1u);
    EXPECT_EQ(nested_[0].status, CellStatus::kCancelled);
  }
  EXPECT_THAT(Run("1"), ResultIs("1"));
}

TEST_F(NestedTest, ADeathInsideEndsBoth) {
  CellOutcome outcome = Run("call('run', 'import os; os._exit(7)')");
  EXPECT_EQ(outcome.state, StateAfter::kLost);
  threads_.Join();
  ASSERT_EQ(nested_.size(), 1u);
  EXPECT_EQ(nested_[0].state, StateAfter::kLost);
  EXPECT_THAT(Run("'alive'"), ResultIs("'alive'"));
}

TEST_F(NestedTest, OneThatCannotBeEndedIsKilledWithTheCellThatWaits) {
  StartedCell cell(session(), R"(call('run', '''
def resist():
    while True:
        try:
            while True:
                try:
                    call("never", 0)
                    while True: pass
                except BaseException: pass
        except BaseException: pass
resist()'''))");
  ASSERT_TRUE(Eventually([] { return log_->calls().size() == 1; }));
  session().Interrupt();
  session().Interrupt();
  CellOutcome outcome = cell.Join();
  EXPECT_EQ(outcome.status, CellStatus::kCancelled);
  EXPECT_EQ(outcome.state, StateAfter::kLost);
}

}  // namespace
}  // namespace cellar::testing
