#include "host/repl/device_attributes.h"

#include "gtest/gtest.h"

namespace cellar::host {
namespace {

TEST(DeviceAttributesTest, TheAnswerIsTakenOutOfTheKeys) {
  DeviceAttributes attributes;
  EXPECT_EQ(attributes.Take("x = \x1b[?62;4;22c1\r"), "x = 1\r");
  EXPECT_TRUE(attributes.is_known());
  EXPECT_TRUE(attributes.shows_sixel());
  EXPECT_EQ(attributes.Take("\x1b[?62;4c"), "\x1b[?62;4c") << "there is one answer";
}

TEST(DeviceAttributesTest, TerminalsWithoutSixels) {
  for (const char* answer : {"\x1b[?1;2c", "\x1b[?6c", "\x1b[?4;6c", "\x1b[?64;14;42c"}) {
    DeviceAttributes attributes;
    EXPECT_EQ(attributes.Take(answer), "");
    EXPECT_TRUE(attributes.is_known());
    EXPECT_FALSE(attributes.shows_sixel()) << answer;
  }
}

TEST(DeviceAttributesTest, TheAnswerMayComeInPieces) {
  DeviceAttributes attributes;
  EXPECT_EQ(attributes.Take("a\x1b"), "a");
  EXPECT_EQ(attributes.Take("[?62"), "");
  EXPECT_EQ(attributes.Take(";4cb"), "b");
  EXPECT_TRUE(attributes.shows_sixel());
}

TEST(DeviceAttributesTest, OtherKeysGoOnAsTheyAre) {
  DeviceAttributes attributes;
  EXPECT_EQ(attributes.Take("\x1b[A\x1b[200~c\x1b[201~\x1b"), "\x1b[A\x1b[200~c\x1b[201~");
  EXPECT_EQ(attributes.Take("b"),
            "\x1b"
            "b");
  EXPECT_EQ(attributes.Take("\x1b[?25;x"), "\x1b[?25;x");
  const std::string endless = "\x1b[?" + std::string(1000, '1');
  EXPECT_EQ(attributes.Take(endless), endless);
  EXPECT_FALSE(attributes.is_known());
}

TEST(DeviceAttributesTest, KeysWaitNoLongerThanTheyShould) {
  DeviceAttributes attributes;
  EXPECT_EQ(attributes.Take("\x1b"), "");
  EXPECT_EQ(attributes.StopWaiting(), "\x1b");
  EXPECT_EQ(attributes.Take("\x1b"), "\x1b");
  EXPECT_EQ(attributes.Take("x\x1b[?62;4c"), "x") << "late, and still no keys";
  EXPECT_TRUE(attributes.shows_sixel());
}

}  // namespace
}  // namespace cellar::host
