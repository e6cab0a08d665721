#include "host/repl/painter.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "host/console/text_width.h"

namespace cellar::host {
namespace {

using ::testing::ElementsAre;

class PainterTest : public ::testing::Test {
 protected:
  void SetUp() override { UseUtf8(); }

  static Picture PaintPlain(std::string_view text, size_t cursor, int columns) {
    return Paint({.text = text, .cursor = cursor, .prompt = "> ", .continuation = ". "}, columns,
                 /*colour=*/false);
  }
};

TEST_F(PainterTest, ACellIsABlockWithContinuationPrompts) {
  Picture picture = PaintPlain("for x in y:\n    x\n", 14, 40);
  EXPECT_THAT(picture.rows, ElementsAre("> for x in y:", ".     x", ". "));
  EXPECT_EQ(picture.cursor_row, 1u);
  EXPECT_EQ(picture.cursor_column, 4);
}

TEST_F(PainterTest, ALongLineWraps) {
  Picture picture = PaintPlain("abcdefgh", 8, 6);
  EXPECT_THAT(picture.rows, ElementsAre("> abcd", "efgh"));
  EXPECT_EQ(picture.cursor_row, 1u);
  EXPECT_EQ(picture.cursor_column, 4);
}

TEST_F(PainterTest, AtTheEndOfAFullRowTheCursorIsInTheNext) {
  Picture picture = PaintPlain("abcd", 4, 6);
  EXPECT_THAT(picture.rows, ElementsAre("> abcd", ""));
  EXPECT_EQ(picture.cursor_row, 1u);
  EXPECT_EQ(picture.cursor_column, 0);
}

TEST_F(PainterTest, AWideCharacterIsNeverCutInTwo) {
  Picture picture = PaintPlain("abc日本", 9, 6);
  EXPECT_THAT(picture.rows, ElementsAre("> abc", "日本"));
  EXPECT_EQ(picture.cursor_column, 4);
}

TEST_F(PainterTest, CombiningMarksTakeNoColumn) {
  Picture picture = PaintPlain("e\u0301x", 4, 20);
  EXPECT_THAT(picture.rows, ElementsAre("> e\u0301x"));
  EXPECT_EQ(picture.cursor_column, 4);
}

TEST_F(PainterTest, TabsControlCharactersAndInvalidBytesAreVisible) {
  EXPECT_THAT(PaintPlain("a\tb\x01\xFF", 0, 40).rows, ElementsAre("> a   b^A\uFFFD"));
  EXPECT_THAT(PaintPlain("a\u200Fb\u202E", 0, 40).rows, ElementsAre("> a\uFFFDb\uFFFD"));
}

TEST_F(PainterTest, ColoursEndWithTheRowAndGoOnInTheNext) {
  Picture picture =
      Paint({.text = "'ab\ncd'''", .prompt = "", .continuation = ""}, 40, /*colour=*/true);
  EXPECT_THAT(picture.rows, ElementsAre("\x1b[32m'ab\x1b[0m", "cd\x1b[32m'''\x1b[0m"));
  picture = Paint({.text = "'abcd'", .prompt = "", .continuation = ""}, 4, /*colour=*/true);
  EXPECT_THAT(picture.rows, ElementsAre("\x1b[32m'abc\x1b[0m", "\x1b[32md'\x1b[0m"));
}

TEST_F(PainterTest, WhatIsBelowIsCutToTheWidth) {
  Picture picture = Paint({.text = "x", .cursor = 1, .prompt = "", .below = {"one two", "three"}},
                          4, /*colour=*/false);
  EXPECT_THAT(picture.rows, ElementsAre("x", "one ", "thre"));
  EXPECT_EQ(picture.cursor_row, 0u);
  EXPECT_EQ(picture.cursor_column, 1);
}

}  // namespace
}  // namespace cellar::host
