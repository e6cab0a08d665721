#include "host/console/status_tree.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cellar::host {
namespace {

using ::testing::ElementsAre;

constexpr absl::Duration kElapsed = absl::Milliseconds(3200);

TEST(StatusTreeTest, ACellAloneHasOneRow) {
  StatusTree tree;
  tree.Plan({{.title = "load"}});
  tree.BeginCell(0);
  EXPECT_EQ(tree.label(), "");
  EXPECT_THAT(tree.Rows(0, kElapsed), ElementsAre("⠋ 3.2 s"));
  EXPECT_THAT(tree.Rows(11, absl::Seconds(125)), ElementsAre("⠙ 2 min 5 s"));
}

TEST(StatusTreeTest, ThoseToComeAreBelow) {
  StatusTree tree;
  tree.Plan({{.title = "load"}, {}, {.title = "plot\x1b[2J"}});
  tree.BeginCell(0);
  EXPECT_EQ(tree.label(), "[1/3] load");
  EXPECT_THAT(tree.Rows(0, kElapsed),
              ElementsAre("⠋ [1/3] load  3.2 s", "· [2/3]", "· [3/3] plot"));
  tree.BeginCell(2);
  EXPECT_THAT(tree.Rows(0, kElapsed), ElementsAre("⠋ [3/3] plot  3.2 s"));
}

TEST(StatusTreeTest, OfManyToComeTheFirstAreShown) {
  StatusTree tree;
  tree.Plan(std::vector<CallCell>(10));
  tree.BeginCell(1);
  EXPECT_THAT(tree.Rows(0, kElapsed),
              ElementsAre("⠋ [2/10]  3.2 s", "· [3/10]", "· [4/10]", "· [5/10]", "· 5 more"));
}

TEST(StatusTreeTest, WhatHelpersDoHangsUnderTheCell) {
  StatusTree tree;
  tree.BeginCell(0);
  EXPECT_EQ(tree.OnEvent(R"({"op": "log", "message": "begun"})"), "begun");
  EXPECT_EQ(tree.OnEvent(R"({"op": "phase", "title": "reading"})"), "");
  tree.OnEvent(R"({"op": "agent", "label": "scout", "state": "started"})");
  tree.OnEvent(R"({"op": "agent", "label": "critic", "state": "started"})");
  tree.OnEvent(R"({"op": "agent", "label": "scout", "state": "done"})");
  tree.OnEvent(R"({"op": "read", "path": "a.csv", "chars": 3})");
  tree.OnEvent(R"({"op": "parallel", "count": 4})");
  EXPECT_THAT(tree.Rows(0, kElapsed),
              ElementsAre("⠋ 3.2 s  reading", "├ agent critic", "├ read a.csv", "└ parallel"));
  tree.OnEvent(R"({"op": "phase", "title": "writing"})");
  EXPECT_THAT(tree.Rows(0, kElapsed), ElementsAre("⠋ 3.2 s  writing", "└ agent critic"));
  tree.BeginCell(0);
  EXPECT_THAT(tree.Rows(0, kElapsed), ElementsAre("⠋ 3.2 s"));
}

TEST(StatusTreeTest, WhatAWorkerMakesUpIsNotBelieved) {
  StatusTree tree;
  for (const char* event : {"", "[1]", "{", R"({"op": 7})", R"({"op": "log", "message": 1})"}) {
    EXPECT_EQ(tree.OnEvent(event), "") << event;
  }
  EXPECT_THAT(tree.Rows(0, kElapsed), ElementsAre("⠋ 3.2 s"));
}

}  // namespace
}  // namespace cellar::host
