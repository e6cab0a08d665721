#include "host/console/inline_image.h"

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"

namespace cellar::host {
namespace {

TEST(InlineImageTest, TerminalsAreKnownByTheirVariables) {
  EXPECT_EQ(ImageProtocolOf({{"TERM", "xterm-kitty"}}), ImageProtocol::kKitty);
  EXPECT_EQ(ImageProtocolOf({{"TERM", "xterm"}, {"TERM_PROGRAM", "iTerm.app"}}),
            ImageProtocol::kITerm);
  EXPECT_EQ(ImageProtocolOf({{"TERM", "foot"}}), ImageProtocol::kSixel);
  EXPECT_EQ(ImageProtocolOf({{"TERM", "xterm-256color"}}), ImageProtocol::kNone);
  EXPECT_EQ(ImageProtocolOf({{"TERM", "screen"}, {"KITTY_WINDOW_ID", "1"}}), ImageProtocol::kNone);
  EXPECT_EQ(ImageProtocolOf({{"TERM", "xterm-kitty"}, {"TMUX", "x"}}), ImageProtocol::kNone);
}

TEST(InlineImageTest, KittyGetsAnImageInChunks) {
  EXPECT_EQ(InlineImage(ImageProtocol::kKitty, "image/png", "abc", 80),
            "\x1b_Ga=T,f=100,m=0;YWJj\x1b\\");
  const std::string image =
      InlineImage(ImageProtocol::kKitty, "image/png", std::string(4000, 'x'), 80);
  EXPECT_TRUE(image.starts_with("\x1b_Ga=T,f=100,m=1;"));
  EXPECT_NE(image.find("\x1b\\\x1b_Gm=0;"), std::string::npos);
}

TEST(InlineImageTest, ITermGetsItInOne) {
  EXPECT_EQ(InlineImage(ImageProtocol::kITerm, "image/jpeg", "abc", 80),
            "\x1b]1337;File=inline=1;size=3:YWJj\a");
}

TEST(InlineImageTest, ASixelTerminalGetsAPngThatFits) {
  std::string png;  // 4 x 2, white
  ASSERT_TRUE(
      absl::Base64Unescape("iVBORw0KGgoAAAANSUhEUgAAAAQAAAACCAIAAADwyuo0AAAADklEQVR4nGP4jwQYkDkANvE"
                           "X6SAXxcIAAAAASUVORK5CYII=",
                           &png));
  EXPECT_EQ(InlineImage(ImageProtocol::kSixel, "image/png", png, 80),
            "\x1bP0;1q\"1;1;4;2#0;2;100;100;100#0!4B$-\x1b\\");
  EXPECT_EQ(InlineImage(ImageProtocol::kSixel, "image/png", png, 2),
            "\x1bP0;1q\"1;1;2;1#0;2;100;100;100#0@@$-\x1b\\");
}

TEST(InlineImageTest, WhatATerminalDoesNotTakeIsNotSent) {
  EXPECT_EQ(InlineImage(ImageProtocol::kSixel, "image/jpeg", "abc", 80), "");
  EXPECT_EQ(InlineImage(ImageProtocol::kSixel, "image/png", "abc", 80), "");
  EXPECT_EQ(InlineImage(ImageProtocol::kNone, "image/png", "abc", 80), "");
  EXPECT_EQ(InlineImage(ImageProtocol::kKitty, "image/jpeg", "abc", 80), "");
  EXPECT_EQ(InlineImage(ImageProtocol::kITerm, "image/svg+xml", "<svg/>", 80), "");
}

}  // namespace
}  // namespace cellar::host
