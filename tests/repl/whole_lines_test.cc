#include "host/repl/whole_lines.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cellar::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class WholeLinesTest : public ::testing::Test {
 protected:
  std::vector<std::pair<Stream, std::string>> shown_;
  WholeLines lines_{[this](Stream stream, std::string_view text) {
    shown_.emplace_back(stream, std::string(text));
  }};
};

TEST_F(WholeLinesTest, WhatHasBegunWaitsForItsEnd) {
  lines_.Add(Stream::kStdout, "a");
  EXPECT_THAT(shown_, IsEmpty());
  lines_.Add(Stream::kStdout, "b\nc\nd");
  EXPECT_THAT(shown_, ElementsAre(Pair(Stream::kStdout, "ab\nc\n")));
  lines_.End();
  lines_.End();
  EXPECT_THAT(shown_, ElementsAre(Pair(Stream::kStdout, "ab\nc\n"), Pair(Stream::kStdout, "d\n")));
}

TEST_F(WholeLinesTest, TheOtherStreamDoesNotGoOnWithALine) {
  lines_.Add(Stream::kStdout, "out");
  lines_.Add(Stream::kStderr, "err\n");
  EXPECT_THAT(shown_, ElementsAre(Pair(Stream::kStdout, "out\n"), Pair(Stream::kStderr, "err\n")));
}

TEST_F(WholeLinesTest, ALineWithoutAnEndIsBrokenBetweenCharacters) {
  std::string text(WholeLines::kMaxLineBytes - 1, 'x');
  text += "\u00e9";
  lines_.Add(Stream::kStdout, text.substr(0, text.size() - 1));
  EXPECT_THAT(shown_, IsEmpty());
  lines_.Add(Stream::kStdout, text.substr(text.size() - 1));
  EXPECT_THAT(shown_, ElementsAre(Pair(Stream::kStdout,
                                       std::string(WholeLines::kMaxLineBytes - 1, 'x') + "\n")));
  lines_.End();
  EXPECT_EQ(shown_.back().second, "\u00e9\n");
}

TEST_F(WholeLinesTest, BytesThatAreNoTextAreBrokenToo) {
  lines_.Add(Stream::kStdout, std::string(2 * WholeLines::kMaxLineBytes + 1, '\x80'));
  EXPECT_THAT(shown_.size(), 2);
  lines_.End();
  EXPECT_EQ(shown_.back().second, "\x80\n");
}

}  // namespace
}  // namespace cellar::host
