#include "host/console/text_width.h"

#include <gtest/gtest.h>

namespace cellar::host {
namespace {

class CutToWidthTest : public testing::Test {
 protected:
  void SetUp() override { UseUtf8(); }
};

TEST_F(CutToWidthTest, TextThatFitsStays) {
  EXPECT_EQ(CutToWidth("", 3), "");
  EXPECT_EQ(CutToWidth("abc", 3), "abc");
  EXPECT_EQ(CutToWidth("a\tb", 3), "a b");
}

TEST_F(CutToWidthTest, LongerTextEndsInAnEllipsis) {
  EXPECT_EQ(CutToWidth("abcd", 3), "ab…");
  EXPECT_EQ(CutToWidth("abcd", 1), "…");
  EXPECT_EQ(CutToWidth("abcd", 0), "");
}

TEST_F(CutToWidthTest, WideAndCombiningCharactersCountAsTerminalsDrawThem) {
  EXPECT_EQ(CutToWidth("日本語", 6), "日本語");
  EXPECT_EQ(CutToWidth("日本語", 5), "日本…");
  EXPECT_EQ(CutToWidth("日本語", 4), "日…");
  EXPECT_EQ(CutToWidth("e\u0301e\u0301", 2), "e\u0301e\u0301");
  EXPECT_EQ(CutToWidth("\U0001F600x", 2), "…");
}

}  // namespace
}  // namespace cellar::host
