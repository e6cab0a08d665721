// What a prompt asks of a session while a person types.
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "cellar/testing.h"
#include "tests/testing/worker_test.h"

namespace cellar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class QueriesTest : public WorkerTest {
 protected:
  std::vector<std::string> Texts(std::string text) {
    absl::StatusOr<Completions> completions = session().Complete(std::move(text));
    EXPECT_TRUE(completions.ok()) << completions.status();
    std::vector<std::string> texts;
    if (!completions.ok()) return texts;
    for (const Completion& match : completions->matches) texts.push_back(match.text);
    return texts;
  }
};

TEST_F(QueriesTest, CompletesWhatCellsHaveBound) {
  Run("wagon = {'wheels': 4}\ndef wander(far, *, fast=False): pass");
  absl::StatusOr<Completions> completions = session().Complete("x = wa + 1", 6);
  ASSERT_TRUE(completions.ok()) << completions.status();
  EXPECT_EQ(completions->start, 4u);
  EXPECT_EQ(completions->end, 6u);
  ASSERT_EQ(completions->matches.size(), 2u);
  EXPECT_EQ(completions->matches[0].text, "wagon");
  EXPECT_EQ(completions->matches[0].type, "instance");
  EXPECT_EQ(completions->matches[1].signature, "wander(far, *, fast=False)");
  EXPECT_THAT(Texts("wagon['w"), ElementsAre("wheels"));
  EXPECT_THAT(Texts("wander(fa"), ElementsAre("far=", "fast="));
  EXPECT_THAT(Texts("wagon.ke"), ElementsAre("keys"));
}

TEST_F(QueriesTest, MatchesThatNoMessageHoldsAreAnErrorAndTheSessionGoesOn) {
  Run("names = {('k%d' % i) * 2_000_000: 1 for i in range(25)}");
  EXPECT_FALSE(session().Complete("names['").ok());
  EXPECT_THAT(Run("len(names)"), ResultIs("25"));
}

TEST_F(QueriesTest, ATextThatNoMessageHoldsIsAnErrorAndTheSessionGoesOn) {
  absl::StatusOr<Completions> completions = session().Complete(std::string(80u << 20, 'x'));
  EXPECT_EQ(completions.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Run("1 + 1"), ResultIs("2"));
}

TEST_F(QueriesTest, CountsCodePoints) {
  Run("grün = 1");
  absl::StatusOr<Completions> completions = session().Complete("'ä' + grü");
  ASSERT_TRUE(completions.ok()) << completions.status();
  EXPECT_EQ(completions->start, 6u);
  EXPECT_EQ(completions->end, 9u);
  EXPECT_THAT(Texts("'ä' + grü"), ElementsAre("grün"));
}

TEST_F(QueriesTest, RunsNoCodeOfTheUser) {
  Run("ran = []\n"
      "class Trap:\n"
      "    bell = property(lambda self: ran.append('property'))\n"
      "    def __getattr__(self, name): ran.append(name); raise AttributeError(name)\n"
      "    def __dir__(self): ran.append('dir'); return []\n"
      "    def __repr__(self): ran.append('repr'); return ''\n"
      "trap = Trap()");
  EXPECT_THAT(Texts("trap.b"), ElementsAre("bell"));
  EXPECT_THAT(Texts("trap.bell.x"), IsEmpty());
  EXPECT_THAT(Texts("trap.nothing().x"), IsEmpty());
  Texts("trap(");
  EXPECT_TRUE(session().Inspect("trap.bell").ok());
  EXPECT_TRUE(session().Inspect("trap", std::nullopt, true).ok());
  EXPECT_EQ(Evaluate("ran"), "[]");
}

TEST_F(QueriesTest, Inspects) {
  Run("def area(width: int, height=2):\n    '''Of a rectangle.'''\n    return width * height");
  absl::StatusOr<Inspection> inspection = session().Inspect("area(3)", 2, /*with_source=*/true);
  ASSERT_TRUE(inspection.ok()) << inspection.status();
  EXPECT_TRUE(inspection->found);
  EXPECT_EQ(inspection->name, "area");
  EXPECT_EQ(inspection->type, "function");
  EXPECT_EQ(inspection->kind, "function");
  EXPECT_EQ(inspection->signature, "area(width: int, height=2)");
  EXPECT_EQ(inspection->docstring, "Of a rectangle.");
  EXPECT_THAT(inspection->source, HasSubstr("return width * height"));
  EXPECT_EQ(session().Inspect("area(3, ")->name, "area");
  EXPECT_FALSE(session().Inspect("nowhere")->found);
}

TEST_F(QueriesTest, KnowsAWholeCell) {
  EXPECT_EQ(session().IsComplete("x = 1")->form, CellForm::kComplete);
  EXPECT_EQ(session().IsComplete("await f()")->form, CellForm::kComplete);
  EXPECT_EQ(session().IsComplete("x = = 1")->form, CellForm::kInvalid);
  absl::StatusOr<Completeness> open = session().IsComplete("if x:\n    for y in z:");
  EXPECT_EQ(open->form, CellForm::kIncomplete);
  EXPECT_EQ(open->indent, "        ");
}

TEST_F(QueriesTest, AnswersWhileACellAwaits) {
  Run("import asyncio\nwagon = 1");
  StartedCell cell(session(), "print('on', flush=True)\nawait asyncio.sleep(60)");
  cell.WaitFor("on");
  EXPECT_THAT(Texts("wago"), ElementsAre("wagon"));
  session().Interrupt();
  cell.Join();
}

TEST_F(QueriesTest, IsBusyWhileACellRunsPlainCode) {
  Run("import time\nwagon = 1");
  StartedCell cell(session(), "print('on', flush=True)\ntime.sleep(60)");
  cell.WaitFor("on");
  const absl::Time before = absl::Now();
  EXPECT_EQ(session().Complete("wago").status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_LT(absl::Now() - before, kSlowness * absl::Milliseconds(600));
  // A second question does not wait behind the first.
  const absl::Time again = absl::Now();
  EXPECT_THAT(session().Complete("wago").status().message(), HasSubstr("busy"));
  EXPECT_LT(absl::Now() - again, kSlowness * absl::Milliseconds(150));
  session().Interrupt();
  cell.Join();
  EXPECT_TRUE(Eventually([&] { return session().Complete("wago").ok(); }));
  EXPECT_THAT(Texts("wago"), ElementsAre("wagon"));
}

TEST_F(QueriesTest, AWorkerThatDiesLeavesNoQuestionOpen) {
  Run("import os, time");
  StartedCell cell(session(), "print('on', flush=True)\ntime.sleep(0.1)\nos._exit(3)");
  cell.WaitFor("on");
  EXPECT_EQ(session().Complete("o").status().code(), absl::StatusCode::kUnavailable);
  cell.Join();
  ASSERT_TRUE(Eventually([&] { return session().Complete("rea").ok(); })) << "the next worker";
  EXPECT_THAT(Texts("rea"), ElementsAre("read"));
}

TEST_F(QueriesTest, AClosedSessionSaysSo) {
  session().Close();
  EXPECT_EQ(session().IsComplete("1").status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace cellar::testing
