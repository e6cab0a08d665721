#include "host/wire/frame.h"

#include <malloc.h>

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cellar::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

size_t AllocatedBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Every whole frame in `bytes`, fed in pieces of `piece` bytes.
std::vector<std::pair<int, std::string>> FramesOf(const std::string& bytes, size_t piece) {
  FrameDecoder decoder;
  std::vector<std::pair<int, std::string>> frames;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    decoder.Feed(std::string_view(bytes).substr(at, piece));
    while (true) {
      auto frame = decoder.Next();
      EXPECT_TRUE(frame.ok()) << frame.status();
      if (!frame.ok() || !*frame) break;
      frames.emplace_back((*frame)->type, (*frame)->payload);
    }
  }
  return frames;
}

TEST(FrameTest, ComesOutAsItWentInHoweverItIsCut) {
  std::string bytes =
      EncodeFrame(2, "hello") + EncodeFrame(35, "") + EncodeFrame(33, std::string(5000, '\0'));
  for (size_t piece : {1, 3, 7, 8, 9, 4096, 100000}) {
    EXPECT_THAT(FramesOf(bytes, piece),
                ElementsAre(Pair(2, "hello"), Pair(35, ""), Pair(33, std::string(5000, '\0'))))
        << "pieces of " << piece;
  }
}

TEST(FrameTest, WaitsForTheRestOfAFrame) {
  FrameDecoder decoder;
  decoder.Feed(EncodeFrame(2, "hello").substr(0, 12));
  auto frame = decoder.Next();
  ASSERT_TRUE(frame.ok());
  EXPECT_FALSE(frame->has_value());
}

TEST(FrameTest, ALargeFrameLeavesNothingInMemory) {
  const std::string large = EncodeFrame(1, std::string(20 << 20, 'x'));
  FrameDecoder decoder;
  const size_t before = AllocatedBytes();
  decoder.Feed(large);
  ASSERT_TRUE(decoder.Next()->has_value());
  decoder.Feed(EncodeFrame(2, "small"));
  ASSERT_TRUE(decoder.Next()->has_value());
  EXPECT_LT(AllocatedBytes(), before + (1 << 20));
}

TEST(FrameTest, RefusesAFrameLargerThanTheLimitBeforeItHasArrived) {
  FrameDecoder decoder;
  decoder.Feed(std::string("\xff\xff\xff\xff\x02\x00\x00\x00", 8));
  EXPECT_FALSE(decoder.Next().ok());
  EXPECT_FALSE(decoder.Next().ok()) << "an error stays an error";
}

TEST(FrameTest, RefusesPlainText) {
  FrameDecoder decoder;
  decoder.Feed("Traceback (most recent call last):\n");
  EXPECT_FALSE(decoder.Next().ok());
}

}  // namespace
}  // namespace cellar::wire
