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

TEST(PastedTextTest, OutputBetweenThePromptsOfPythonGoes) {
  EXPECT_EQ(
      CleanPaste(">>> print(\"hello world\")\nhello world\n>>> 1 / 0\n"
                 "Traceback (most recent call last):\n  File \"<stdin>\", line 1\n"
                 "ZeroDivisionError: division by zero\n\n>>> for x in y:\n...     x\n...\n1\n"),
      "print(\"hello world\")\n1 / 0\nfor x in y:\n    x");
}

TEST(PastedTextTest, OutputThatBeginsWithDotsIsNoCode) {
  EXPECT_EQ(CleanPaste(">>> f()\none\n... and so on\n>>> g()\n...and so on\n"), "f()\ng()");
}

TEST(PastedTextTest, ATranscriptMayBeIndented) {
  EXPECT_EQ(
      CleanPaste("    >>> for x in y:\n    ...     x\n    1\n    2\n\n    >>> y\n    [1, 2]\n"),
      "for x in y:\n    x\ny");
  EXPECT_EQ(CleanPaste(">>> x\n    1\n    >>> y\n    2"), "x\ny");
  EXPECT_EQ(CleanPaste("  In [1]: x\n  Out[1]: 1\n\n  In [2]: y"), "x\ny");
}

TEST(PastedTextTest, AllOutputOfIPythonGoes) {
  EXPECT_EQ(CleanPaste("In [9]: print('hello')\nhello\n\nIn [10]: for x in y:\n   ....:     x\n"
                       "   ....:\n\nIn [11]: table\nOut[11]:\n   a  b\n0  1  2\n\nIn [12]: x\n"),
            "print('hello')\nfor x in y:\n    x\n\ntable\nx");
}

TEST(PastedTextTest, ACellUnderItsPromptIsCode) {
  EXPECT_EQ(CleanPaste("In [1]:\nimport os\n\nx = 1\nx\nOut[1]:\n1\nIn [2]:\ny = 2\n"),
            "import os\n\nx = 1\nx\n\ny = 2");
}

TEST(PastedTextTest, CodeThatHasATranscriptInItStaysAsItIs) {
  const std::string code =
      "def f():\n    \"\"\"Is one.\n\n    >>> f()\n    1\n    \"\"\"\n    return 1";
  EXPECT_EQ(CleanPaste(code), code);
}

TEST(PastedTextTest, WithoutAPromptInTheFirstLineNothingIsTakenForOne) {
  EXPECT_EQ(CleanPaste("x = [\n...\n]"), "x = [\n...\n]");
  EXPECT_EQ(CleanPaste("Out[1]: x"), "Out[1]: x");
}

TEST(PastedTextTest, SharedIndentationAndBlankLinesAroundGo) {
  EXPECT_EQ(CleanPaste("\n    if x:\n\n        y\n\n"), "if x:\n\n    y");
  EXPECT_EQ(CleanPaste("\tif x:\n\n\t\ty"), "if x:\n\n\ty");
  EXPECT_EQ(CleanPaste("\t  if x:\n\t      y"), "if x:\n    y");
  EXPECT_EQ(CleanPaste("\tif x:\n        y"), "\tif x:\n        y");
}

TEST(PastedTextTest, PartOfALineStaysAsItIs) { EXPECT_EQ(CleanPaste("  x "), "  x "); }

}  // namespace
}  // namespace cellar::host
