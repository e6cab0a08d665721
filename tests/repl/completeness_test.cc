#include "host/repl/completeness.h"

#include "gtest/gtest.h"

namespace cellar::host {
namespace {

TEST(CompletenessTest, AStatementIsWholeAtItsLine) {
  EXPECT_FALSE(NeedsMoreLines("x = 1\n"));
  EXPECT_FALSE(NeedsMoreLines("x = {'a': 1}  # (comment\n"));
  EXPECT_FALSE(NeedsMoreLines("print('(')\n"));
  EXPECT_FALSE(NeedsMoreLines("f = lambda: 1\n"));
  EXPECT_FALSE(NeedsMoreLines("if x: print(1)\n"));
}

TEST(CompletenessTest, BracketsAndTripleQuotesStayOpen) {
  EXPECT_TRUE(NeedsMoreLines("f(1,\n"));
  EXPECT_FALSE(NeedsMoreLines("f(1,\n2)\n"));
  EXPECT_TRUE(NeedsMoreLines("s = '''a\n"));
  EXPECT_TRUE(NeedsMoreLines("s = '''a'\n\n"));
  EXPECT_FALSE(NeedsMoreLines("s = '''a\nb'''\n"));
  EXPECT_TRUE(NeedsMoreLines("d = {\n\n"));
}

TEST(CompletenessTest, ABackslashContinuesTheLine) {
  EXPECT_TRUE(NeedsMoreLines("x = 1 + \\\n"));
  EXPECT_FALSE(NeedsMoreLines("x = 1 + \\\n2\n"));
}

TEST(CompletenessTest, ABlockEndsWithABlankLine) {
  EXPECT_TRUE(NeedsMoreLines("for i in x:\n"));
  EXPECT_TRUE(NeedsMoreLines("for i in x:\n    print(i)\n"));
  EXPECT_FALSE(NeedsMoreLines("for i in x:\n    print(i)\n\n"));
  EXPECT_TRUE(NeedsMoreLines("if x:  # why\n"));
  EXPECT_TRUE(NeedsMoreLines("@decorator\n"));
}

TEST(CompletenessTest, AStatementAtTheMarginEndsABlock) {
  EXPECT_FALSE(NeedsMoreLines("for i in x:\n    print(i)\nprint(x)\n"));
  EXPECT_TRUE(NeedsMoreLines("if x:\n    y\nelse:\n"));
  EXPECT_TRUE(NeedsMoreLines("@decorator\ndef f():\n"));
  EXPECT_TRUE(NeedsMoreLines("if x:\n    y\n# why\n"));
  EXPECT_TRUE(NeedsMoreLines("def f():\n    '''\na\n    '''\n    y\n"));
  EXPECT_TRUE(NeedsMoreLines("def f(a,\nb):\n    y\n"));
}

TEST(CompletenessTest, WhatIsWrongIsLeftToTheWorker) {
  EXPECT_FALSE(NeedsMoreLines("x = 'abc\n"));
  EXPECT_FALSE(NeedsMoreLines(")\n"));
  EXPECT_FALSE(NeedsMoreLines("\n"));
  EXPECT_FALSE(NeedsMoreLines(""));
}

}  // namespace
}  // namespace cellar::host
