#include "host/session/death_streak.h"

#include <gmock/gmock.h>

#include <csignal>

namespace cellar::host {
namespace {

using ::testing::HasSubstr;

TEST(DeathStreakTest, RefusesAfterTheFourthDeathAndNamesTheLastOne) {
  DeathStreak deaths;
  for (int death = 1; death <= 3; ++death) {
    deaths.Count({.exit_code = 1});
    EXPECT_TRUE(deaths.Check().ok()) << death;
  }
  deaths.Count({.signal = SIGSEGV});
  EXPECT_FALSE(deaths.Check().ok());
  EXPECT_THAT(std::string(deaths.Check().message()), HasSubstr("died 4 times in a row"));
  EXPECT_THAT(std::string(deaths.Check().message()), HasSubstr("SIGSEGV"));
}

TEST(DeathStreakTest, ACellThatGoesWellEndsIt) {
  DeathStreak deaths;
  for (int death = 0; death < 10; ++death) deaths.Count({.exit_code = 1});
  deaths.End();
  EXPECT_TRUE(deaths.Check().ok());
}

}  // namespace
}  // namespace cellar::host
