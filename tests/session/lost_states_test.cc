#include "host/session/lost_states.h"

#include <gtest/gtest.h>

namespace cellar::host {
namespace {

TEST(LostStatesTest, AReasonIsToldOnceAndTheLastOneCounts) {
  LostStates lost;
  lost.Note("a", "first");
  lost.Note("b", "other");
  lost.Note("a", "second");
  EXPECT_EQ(lost.Take("a"), "second");
  EXPECT_EQ(lost.Take("a"), "");
  EXPECT_EQ(lost.Take("b"), "other");
}

TEST(LostStatesTest, TheOldestIsForgottenAndOneNotedAgainIsNotOld) {
  LostStates lost;
  lost.Note("again", "old");
  lost.Note("oldest", "old");
  lost.Note("again", "new");
  for (size_t i = 2; i <= LostStates::kMaxRemembered; ++i) lost.Note(std::to_string(i), "x");
  EXPECT_EQ(lost.Take("oldest"), "");
  EXPECT_EQ(lost.Take("again"), "new");
}

}  // namespace
}  // namespace cellar::host
