#include "host/session/session_variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cellar::host {
namespace {

using testing::IsEmpty;
using Entries = SessionVariables::Entries;

// "NAME=value", "NAME" for one that is removed.
std::vector<std::string> Described(const Entries& entries) {
  std::vector<std::string> described;
  for (const wire::EnvironmentEntry& entry : entries) {
    described.push_back(entry.value ? entry.name + "=" + *entry.value : entry.name);
  }
  return described;
}

using Lines = std::vector<std::string>;

TEST(SessionVariablesTest, AreAsTheyWereWhenCellsAreUndone) {
  SessionVariables variables(Entries{{"A", "opened"}});
  Entries first = {{"A", "1"}, {"B", "1"}};
  variables.Set(first, 2);
  Entries second = {{"A", std::nullopt}, {"B", "2"}, {"C", "2"}};
  variables.Set(second, 3);
  EXPECT_EQ(Described(variables.all()), (Lines{"A", "B=2", "C=2"}));
  variables.UndoSince(3);
  EXPECT_EQ(Described(variables.all()), (Lines{"A=1", "B=1"}));
  variables.UndoSince(2);
  EXPECT_EQ(Described(variables.all()), (Lines{"A=opened"}));
}

TEST(SessionVariablesTest, ThatSurvivedADeathAreUndoneWithTheCellTheyWereGivenBackAt) {
  SessionVariables variables(Entries{});
  Entries first = {{"A", "1"}};
  variables.Set(first, 2);
  Entries later = {{"A", "2"}, {"B", "2"}};
  variables.Set(later, 4);
  EXPECT_EQ(Described(variables.SetSince(3)), (Lines{"A=2", "B=2"}));
  EXPECT_EQ(Described(variables.SetSince(3)), (Lines{"A=2", "B=2"}));
  EXPECT_THAT(variables.SetSince(4), IsEmpty());
  variables.UndoSince(3);
  EXPECT_EQ(Described(variables.all()), (Lines{"A=1"}));
}

TEST(SessionVariablesTest, HaveARoomThatAllOfThemShare) {
  SessionVariables variables(Entries{{"A", std::string(SessionVariables::kMaxBytes - 100, 'a')}});
  EXPECT_TRUE(variables.CheckRoomFor({{"B", std::string(90, 'b')}}).ok());
  EXPECT_FALSE(variables.CheckRoomFor({{"B", std::string(110, 'b')}}).ok());
  EXPECT_TRUE(variables.CheckRoomFor({{"A", "short"}, {"B", std::string(110, 'b')}}).ok());
}

TEST(SessionVariablesTest, AreNotMoreThanAWorkerCanBeTold) {
  Entries many(SessionVariables::kMaxCount);
  for (size_t i = 0; i < many.size(); ++i) many[i] = {"V" + std::to_string(i), ""};
  SessionVariables variables(many);
  EXPECT_TRUE(variables.CheckRoomFor(many).ok());
  EXPECT_FALSE(variables.CheckRoomFor({{"A", "1"}}).ok());
  many.push_back({"A", "1"});
  EXPECT_FALSE(SessionVariables(Entries{}).CheckRoomFor(many).ok());
  EXPECT_FALSE(SessionVariables(many).CheckRoomFor({}).ok());
}

TEST(SessionVariablesTest, AnEmptyDirectoryForArtifactsIsNone) {
  SessionVariables variables(Entries{{"PI_ARTIFACTS_DIR", ""}});
  EXPECT_EQ(variables.artifacts_directory(), std::nullopt);
}

TEST(SessionVariablesTest, KeepsNothingOfWhatCannotBeUndone) {
  SessionVariables variables(Entries{});
  Entries first = {{"A", "1"}};
  variables.Set(first, 2);
  Entries second = {{"A", "2"}};
  variables.Set(second, 3);
  variables.KeepSince(3);
  variables.UndoSince(1);
  EXPECT_EQ(Described(variables.all()), (Lines{"A=1"}));
}

}  // namespace
}  // namespace cellar::host
