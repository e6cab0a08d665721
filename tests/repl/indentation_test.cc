#include "host/repl/indentation.h"

#include "gtest/gtest.h"

namespace cellar::host {
namespace {

TEST(IndentationTest, FollowsTheLine) {
  EXPECT_EQ(NextIndent("x = 1"), "");
  EXPECT_EQ(NextIndent("if x:\n    y"), "    ");
  EXPECT_EQ(NextIndent(""), "");
}

TEST(IndentationTest, GoesInAfterAColonOrAnOpenBracket) {
  EXPECT_EQ(NextIndent("if x:"), "    ");
  EXPECT_EQ(NextIndent("if x:  # why"), "    ");
  EXPECT_EQ(NextIndent("  f("), "      ");
  EXPECT_EQ(NextIndent("x = 1  # ends in :"), "");
}

TEST(IndentationTest, ComesOutAfterWhatEndsABlock) {
  EXPECT_EQ(NextIndent("def f():\n    return 1"), "");
  EXPECT_EQ(NextIndent("while x:\n    if y:\n        break"), "    ");
  EXPECT_EQ(NextIndent("    returned"), "    ");
}

TEST(IndentationTest, StaysInsideOfAString) { EXPECT_EQ(NextIndent("x = '''\n  a:"), "  "); }

}  // namespace
}  // namespace cellar::host
