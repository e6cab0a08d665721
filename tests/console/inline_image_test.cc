#include "host/console/inline_image.h"

#include "gtest/gtest.h"

namespace cellar::host {
namespace {

TEST(InlineImageTest, TerminalsAreKnownByTheirVariables) {
  EXPECT_EQ(ImageProtocolOf({{"TERM", "xterm-kitty"}}), ImageProtocol::kKitty);
  EXPECT_EQ(ImageProtocolOf({{"TERM", "xterm"}, {"TERM_PROGRAM", "iTerm.app"}}),
            ImageProtocol::kITerm);
  EXPECT_EQ(ImageProtocolOf({{"TERM", "xterm-256color"}}), ImageProtocol::kNone);
  EXPECT_EQ(ImageProtocolOf({{"TERM", "screen"}, {"KITTY_WINDOW_ID", "1"}}), ImageProtocol::kNone);
  EXPECT_EQ(ImageProtocolOf({{"TERM", "xterm-kitty"}, {"TMUX", "x"}}), ImageProtocol::kNone);
}

TEST(InlineImageTest, KittyGetsAnImageInChunks) {
  EXPECT_EQ(InlineImage(ImageProtocol::kKitty, "image/png", "abc"),
            "\x1b_Ga=T,f=100,m=0;YWJj\x1b\\");
  const std::string image = InlineImage(ImageProtocol::kKitty, "image/png", std::string(4000, 'x'));
  EXPECT_TRUE(image.starts_with("\x1b_Ga=T,f=100,m=1;"));
  EXPECT_NE(image.find("\x1b\\\x1b_Gm=0;"), std::string::npos);
}

TEST(InlineImageTest, ITermGetsItInOne) {
  EXPECT_EQ(InlineImage(ImageProtocol::kITerm, "image/jpeg", "abc"),
            "\x1b]1337;File=inline=1;size=3:YWJj\a");
}

TEST(InlineImageTest, WhatATerminalDoesNotTakeIsNotSent) {
  EXPECT_EQ(InlineImage(ImageProtocol::kNone, "image/png", "abc"), "");
  EXPECT_EQ(InlineImage(ImageProtocol::kKitty, "image/jpeg", "abc"), "");
  EXPECT_EQ(InlineImage(ImageProtocol::kITerm, "image/svg+xml", "<svg/>"), "");
}

}  // namespace
}  // namespace cellar::host
