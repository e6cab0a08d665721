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

TEST(CompletenessTest, ATryWithItsBlockOnTheSameLineWaitsForTheRest) {
  EXPECT_TRUE(NeedsMoreLines("try: x = 1\n"));
  EXPECT_TRUE(NeedsMoreLines("try : x = 1\n"));
  EXPECT_FALSE(NeedsMoreLines("try: x = 1\nexcept ValueError: pass\n"));
  EXPECT_FALSE(NeedsMoreLines("try: x = 1\n\n"));
  EXPECT_FALSE(NeedsMoreLines("try_it = {1: 2}\n"));
}

TEST(CompletenessTest, AStatementAtTheMarginEndsABlock) {
  EXPECT_FALSE(NeedsMoreLines("for i in x:\n    print(i)\nprint(x)\n"));
  EXPECT_TRUE(NeedsMoreLines("if x:\n    y\nelse:\n"));
  EXPECT_TRUE(NeedsMoreLines("@decorator\ndef f():\n"));
  EXPECT_TRUE(NeedsMoreLines("if x:\n    y\n# why\n"));
  EXPECT_TRUE(NeedsMoreLines("def f():\n    '''\na\n    '''\n    y\n"));
  EXPECT_TRUE(NeedsMoreLines("def f(a,\nb):\n    y\n"));
}

TEST(CompletenessTest, ACellMagicWaitsForItsBody) {
  EXPECT_TRUE(NeedsMoreLines("%%writefile notes.txt\n"));
  EXPECT_TRUE(NeedsMoreLines("%%bash\necho (\n"));
  EXPECT_FALSE(NeedsMoreLines("%%bash\necho (\n\n"));
  EXPECT_TRUE(NeedsMoreLines("\n%%time\nx = 1\n"));
  EXPECT_FALSE(NeedsMoreLines("%%time\nx = 1\n  \n"));
  EXPECT_FALSE(NeedsMoreLines("%%\n"));
}

TEST(CompletenessTest, ALineThatIsNotPythonEndsWithItself) {
  EXPECT_FALSE(NeedsMoreLines("!echo a [b\n"));
  EXPECT_FALSE(NeedsMoreLines("!echo a:\n"));
  EXPECT_FALSE(NeedsMoreLines("!echo it's \"\"\"\n"));
  EXPECT_FALSE(NeedsMoreLines("%cd (old\n"));
  EXPECT_FALSE(NeedsMoreLines("x = 1\nfiles = !ls [\n"));
  EXPECT_TRUE(NeedsMoreLines("!echo [ \\\n"));
  EXPECT_FALSE(NeedsMoreLines("!echo [ \\\n(\n"));
  EXPECT_TRUE(NeedsMoreLines("if x:\n    !echo [\n"));
  EXPECT_FALSE(NeedsMoreLines("if x:\n    !echo [\n\n"));
  EXPECT_TRUE(NeedsMoreLines("x = a % (\n"));
  EXPECT_TRUE(NeedsMoreLines("x = a \\\n % (\n"));
  EXPECT_TRUE(NeedsMoreLines("x = (a\n% b\n"));
  EXPECT_TRUE(NeedsMoreLines("!ls\nf(\n"));
}

TEST(CompletenessTest, WhatIsWrongIsLeftToTheWorker) {
  EXPECT_FALSE(NeedsMoreLines("x = 'abc\n"));
  EXPECT_FALSE(NeedsMoreLines(")\n"));
  EXPECT_FALSE(NeedsMoreLines("\n"));
  EXPECT_FALSE(NeedsMoreLines(""));
}

}  // namespace
}  // namespace cellar::host
