#include "host/session/untold_state.h"

#include <gmock/gmock.h>

namespace cellar::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(UntoldStateTest, WhereNothingIsLostNothingIsTold) {
  CellOutcome outcome;
  UntoldState untold;
  untold.TellAfter(outcome);
  untold.TellUnbegun(outcome);
  untold.TellBeside(outcome);
  EXPECT_EQ(outcome.state, StateAfter::kKept);
  EXPECT_EQ(outcome.state_detail, "");
  EXPECT_THAT(outcome.notices, IsEmpty());
}

TEST(UntoldStateTest, ALossIsToldByTheCellThatRanAfterIt) {
  CellOutcome outcome;
  UntoldState untold("the daemon was restarted");
  untold.TellAfter(outcome);
  EXPECT_EQ(outcome.state, StateAfter::kFresh);
  EXPECT_EQ(outcome.state_detail, "the daemon was restarted; this cell ran in a fresh session");
}

TEST(UntoldStateTest, ACellThatNeverBeganDoesNotSayThatItRan) {
  CellOutcome outcome;
  UntoldState untold("the daemon was restarted");
  untold.TellUnbegun(outcome);
  EXPECT_EQ(outcome.state, StateAfter::kFresh);
  EXPECT_EQ(outcome.state_detail,
            "the daemon was restarted; this cell was interrupted before it began");
}

TEST(UntoldStateTest, ARestoreSaysWhatItCouldNotBringBack) {
  CellOutcome outcome;
  UntoldState untold;
  untold.OnRestored("the worker died; state is that of before cell 2", {"a socket"}, 3);
  untold.TellAfter(outcome);
  EXPECT_EQ(outcome.state, StateAfter::kRestored);
  EXPECT_EQ(outcome.state_detail, "the worker died; state is that of before cell 2");
  EXPECT_THAT(outcome.notices, ElementsAre("not in a snapshot, and so not restored: a socket"));
}

TEST(UntoldStateTest, ADeadCellTellsItAsANotice) {
  CellOutcome outcome{.state = StateAfter::kLost, .state_detail = "the worker died, state lost"};
  UntoldState untold("evicted");
  untold.TellBeside(outcome);
  EXPECT_EQ(outcome.state, StateAfter::kLost);
  EXPECT_EQ(outcome.state_detail, "the worker died, state lost");
  EXPECT_THAT(outcome.notices, ElementsAre("evicted; this cell ran in a fresh session"));
}

TEST(UntoldStateTest, ALossMakesAnEarlierRestoreOldNews) {
  CellOutcome outcome;
  UntoldState untold;
  untold.OnRestored("restored", {}, 3);
  untold.OnLost("the worker died");
  untold.TellAfter(outcome);
  EXPECT_EQ(outcome.state, StateAfter::kFresh);
}

TEST(UntoldStateTest, WhatAnUntoldRestoreUndidIsUndoneByTheNextOneToo) {
  UntoldState untold;
  EXPECT_EQ(untold.UndoneEnd(4), 4u);
  untold.OnRestored("the state is that of before cell 3", {}, 9);
  EXPECT_EQ(untold.UndoneEnd(3), 9u);
  untold.OnRewound();
  EXPECT_EQ(untold.UndoneEnd(3), 3u);
}

}  // namespace
}  // namespace cellar::host
