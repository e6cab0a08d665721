#include "host/repl/pasted_text.h"

#include "gtest/gtest.h"

namespace cellar::host {
namespace {

TEST(PastedTextTest, NewlinesOfEveryKindAreOne) {
  EXPECT_EQ(CleanPaste("a\r\nb\rc\nd"), "a\nb\nc\nd");
}

TEST(PastedTextTest, PromptsOfPythonGo) {
  EXPECT_EQ(CleanPaste(">>> for x in y:\n...     x\n...\n"), "for x in y:\n    x");
  EXPECT_EQ(CleanPaste(">>> 1\r\n>>> 2\r\n"), "1\n2");
}

TEST(PastedTextTest, PromptsOfIPythonGoWithTheResults) {
  EXPECT_EQ(
      CleanPaste("In [12]: def f():\n    ...:     pass\n    ...:\nIn [13]: f\nOut[13]: <f>\n"),
      "def f():\n    pass\n\nf");
}

TEST(PastedTextTest, WithoutAPromptInTheFirstLineNothingIsTakenForOne) {
  EXPECT_EQ(CleanPaste("x = [\n...\n]"), "x = [\n...\n]");
  EXPECT_EQ(CleanPaste("Out[1]: x"), "Out[1]: x");
}

TEST(PastedTextTest, SharedIndentationAndBlankLinesAroundGo) {
  EXPECT_EQ(CleanPaste("\n    if x:\n\n        y\n\n"), "if x:\n\n    y");
}

TEST(PastedTextTest, PartOfALineStaysAsItIs) { EXPECT_EQ(CleanPaste("  x "), "  x "); }

}  // namespace
}  // namespace cellar::host
