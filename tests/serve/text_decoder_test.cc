#include "host/serve/text_decoder.h"

#include <gtest/gtest.h>

namespace cellar::host {
namespace {

TEST(TextDecoderTest, KeepsCharactersWholeHoweverTheyAreCut) {
  const std::string text = "aé€😀b";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    TextDecoder decoder;
    const std::string first = decoder.Decode(text.substr(0, cut));
    EXPECT_EQ(first + decoder.Decode(text.substr(cut)), text);
    EXPECT_TRUE(first.empty() || (first.back() & 0xC0) != 0xC0) << "cut at " << cut;
    EXPECT_EQ(decoder.Finish(), "");
  }
}

TEST(TextDecoderTest, LetsOtherBytesPass) {
  TextDecoder decoder;
  EXPECT_EQ(decoder.Decode("\xff\x80"), "\xff\x80");
  EXPECT_EQ(decoder.Decode("caf\xe9\n"), "caf\xe9\n");  // nothing to wait for
  EXPECT_EQ(decoder.Decode("x\xe2"), "x");
  EXPECT_EQ(decoder.Finish(), "\xe2");
}

}  // namespace
}  // namespace cellar::host
