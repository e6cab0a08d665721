// The fixture and its matchers, as a user's test sees them: what passes, and how it looks when not.
#include "cellar/testing.h"

#include <string>

#include "gtest/gtest-spi.h"
#include "tests/testing/sanitized.h"

namespace cellar::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using FixtureTest = CellTest;

TEST_F(FixtureTest, MatchersTellOutcomesApart) {
  EXPECT_THAT(Run("x = 1"), Succeeds());
  EXPECT_THAT(Run("x = 1"), Not(ResultIs("1")));
  EXPECT_THAT(Run("x + 1"), ResultIs("2"));
  EXPECT_THAT(Run("'a' * 100"), ResultIs(StartsWith("'aaa")));
  EXPECT_THAT(Run("print('hello')"), Prints("hello\n"));
  EXPECT_THAT(Run("1 / 0"), Fails("ZeroDivisionError"));
  EXPECT_THAT(Run("1 / 0"), Not(Succeeds()));
  EXPECT_THAT(Run("1"), Not(Fails("ZeroDivisionError")));
}

TEST_F(FixtureTest, EveryTestHasAFreshSession) { EXPECT_THAT(Run("x"), Fails("NameError")); }

TEST_F(FixtureTest, AFailedExpectationShowsTheTraceback) {
  CellOutcome outcome = Run("print('before')\n1 / 0");
  EXPECT_THAT(::testing::PrintToString(outcome), HasSubstr("stdout: before"));
  EXPECT_THAT(::testing::PrintToString(outcome), HasSubstr("ZeroDivisionError: division by zero"));
}

TEST_F(FixtureTest, ACellThatCannotBeRunFailsTheTest) {
  session().Close();
  EXPECT_NONFATAL_FAILURE(Run("1"), "the cell could not be run");
}

class PreloadTest : public CellTest {
 protected:
  SessionOptions Options() override { return {.sys_path = {"/somewhere"}, .preload = {"decimal"}}; }
};

TEST_F(PreloadTest, ADerivedFixtureChoosesOptions) {
  EXPECT_THAT(Run("import sys\n'decimal' in sys.modules, '/somewhere' in sys.path"),
              ResultIs("(True, True)"));
}

TEST(SessionProcessesTest, SeesAWorkerUntilItIsGone) {
  auto host = Host::Start();
  ASSERT_TRUE(host.ok()) << host.status();
  SessionProcesses processes;
  auto session = (*host)->Open();
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE((*session)->Run("1").ok());
  EXPECT_THAT(processes.LeftAfter(absl::ZeroDuration()), Not(::testing::IsEmpty()));
  (*session)->Close();
  EXPECT_THAT(processes.LeftAfter(kSlowness * absl::Milliseconds(500)), ::testing::IsEmpty());
}

class PreparedTest : public PreparedCellTest {
 protected:
  std::string Preparation() override {
    return "import os\ncount = globals().get('count', 0) + 1\nbase = os.getpid()\nseen = []";
  }
};

TEST_F(PreparedTest, HasWhatWasPrepared) {
  EXPECT_THAT(Run("seen.append(1); count, seen, base != os.getpid()"), ResultIs("(1, [1], True)"));
}

TEST_F(PreparedTest, HasNothingOfAnEarlierTest) {
  EXPECT_THAT(Run("seen.append(2); count, seen"), ResultIs("(1, [2])"));
}

TEST_F(PreparedTest, MayEndItsWorkerWithoutHarmToOthers) {
  EXPECT_THAT(Run("os.abort()"), Fails("WorkerDied"));
}

}  // namespace
}  // namespace cellar::testing
