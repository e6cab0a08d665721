#include "host/output/sanitiser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "host/output/printable.h"
#include "tests/output/random_output.h"
#include "tests/testing/valid_utf8.h"

namespace cellar::host {
namespace {

std::string Sanitised(const std::vector<std::string_view>& chunks) {
  Sanitiser sanitiser;
  std::string text;
  for (std::string_view chunk : chunks) sanitiser.Write(chunk, &text);
  sanitiser.Finish(&text);
  return text;
}

struct Case {
  std::string_view bytes;
  std::string_view text;
};

TEST(SanitiserTest, GivesTheExpectedTextForEveryCutInTwo) {
  using namespace std::string_view_literals;
  const std::vector<Case> cases = {
      {"plain\ttext\n", "plain\ttext\n"},
      {"", ""},
      {"no newline", "no newline"},
      // UTF-8
      {"é漢😀", "é漢😀"},
      {"a\xff"
       "b",
       "a\uFFFDb"},
      {"\xc3", "\uFFFD"},
      {"\xe2\x82(", "\uFFFD("},
      {"\xf0\x9f\x98", "\uFFFD"},
      {"\xf0\x9f\x98\n", "\uFFFD\n"},
      {"\xc0\xaf", "\uFFFD\uFFFD"},
      {"\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"},
      {"\xf4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},
      {"\xf5", "\uFFFD"},
      {"\xe2\xc3\xa9", "\uFFFDé"},
      // escape sequences
      {"\x1b[31mred\x1b[0m", "red"},
      {"\x1b[38;2;1;2;3;4:5 qx", "x"},
      {"\x1b[?25lx\x1b[?25h", "x"},
      {"\x1b]0;title\x07x", "x"},
      {"\x1b]8;;http://example.org\x1b\\link\x1b]8;;\x1b\\", "link"},
      {"\x1bPq#0;2;0;0;0\x1b\\x", "x"},
      {"\x1b_apc\x1b\\x\x1b^pm\x1b\\y\x1bXsos\x1b\\z", "xyz"},
      {"\x1b(Bx\x1b#8y\x1b=z", "xyz"},
      {"\x1b]0;never ended\nnext", "\nnext"},
      {"\x1b[31\nnext", "\nnext"},
      {"\x1b[3é", "é"},
      {"\x1b]x\x18y", "y"},
      {"\x1b]x\x1b[31my", "y"},
      {"\x1b\x1b[31mx", "x"},
      {"x\x1b", "x"},
      {"\x1b\nx", "\nx"},
      // control characters
      {"a\0b\x01\x07\x0b\x0c\x0e\x7f"sv, "ab"},
      {"a\u0080b\u009fc\u009dd", "abcd"},
      {"a\u009b31mb\u009b2Jc", "abc"},
      {"\u00a0", "\u00a0"},
      {"a\u202eb\u2066c\u2069d\u200ee\u200ff\u061cg", "abcdefg"},
      {"\u200d\u2060\u2070", "\u200d\u2060\u2070"},
      // carriage returns
      {"10%\r20%\r30%\n", "30%\n"},
      {"10%\r20%\r", "20%"},
      {"\r10%\r20%", "20%"},
      {"a\r\nb\r\r\nc", "a\nb\nc"},
      {"100%\r9%", "9%"},
      {"line\n10%\r20%", "line\n20%"},
      {"10%\r\x1b[K20%", "20%"},
      {"10%\r\u202e\n", "10%\n"},
      {"é\r漢", "漢"},
      {"ab\r\xff", "\uFFFD"},
      // backspaces
      {"abc\b\bd", "ad"},
      {"é漢\bx", "éx"},
      {"\b\ba", "a"},
      {"line\n\bx", "line\nx"},
      {"|\b/\b-\b\\\bdone", "done"},
      {"abc\r\bd", "d"},
  };
  for (const Case& test : cases) {
    for (size_t cut = 0; cut <= test.bytes.size(); ++cut) {
      EXPECT_EQ(Sanitised({test.bytes.substr(0, cut), test.bytes.substr(cut)}), test.text)
          << testing::PrintToString(test.bytes) << " cut at " << cut;
    }
  }
}

TEST(SanitiserTest, GivesTheSameTextForEveryChunking) {
  std::mt19937 random(20240611);
  for (int round = 0; round < 3000; ++round) {
    const std::string bytes = RandomOutput(&random, random() % 60);
    const std::string whole = Sanitised({bytes});
    std::vector<std::string_view> single;
    for (const char& byte : bytes) single.emplace_back(&byte, 1);
    ASSERT_EQ(Sanitised(single), whole) << testing::PrintToString(bytes);
    ASSERT_EQ(Sanitised(RandomChunks(&random, bytes)), whole) << testing::PrintToString(bytes);
  }
}

TEST(SanitiserTest, GivesSafeTextAndKeepsEveryNewline) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    const std::string bytes = RandomOutput(&random, 100);
    const std::string text = Sanitised({bytes});
    ASSERT_TRUE(IsValidUtf8(text));
    ASSERT_EQ(std::count(text.begin(), text.end(), '\n'),
              std::count(bytes.begin(), bytes.end(), '\n'));
    for (char byte : text) {
      ASSERT_TRUE(static_cast<unsigned char>(byte) >= 0x20 || byte == '\n' || byte == '\t');
      ASSERT_NE(byte, '\x7f');
    }
    ASSERT_EQ(Sanitised({text}), text);
  }
}

TEST(SanitiserTest, FindsEachSpecialByteWhereverItStandsInABlock) {
  for (size_t at = 0; at < 200; ++at) {
    std::string bytes(200, 'x');
    bytes[at] = '\x01';
    EXPECT_EQ(Sanitised({bytes}), std::string(199, 'x')) << at;
  }
}

TEST(SanitiserTest, HoldsOnlyPartOfALineThatNeverEnds) {
  Sanitiser sanitiser;
  std::string text;
  const std::string chunk(10'000, 'x');
  size_t total = 0;
  for (int i = 0; i < 1000; ++i) {
    sanitiser.Write(chunk, &text);
    total += text.size();
    text.clear();
    EXPECT_LE(sanitiser.pending_line().size(), Sanitiser::kMaxPendingLine);
  }
  sanitiser.Finish(&text);
  EXPECT_EQ(total + text.size(), 10'000'000u);
}

TEST(SanitiserTest, LetsALongLineGoAtTheSamePlaceForEveryChunking) {
  std::string bytes;
  for (size_t i = 0; i < Sanitiser::kMaxPendingLine / 3; ++i) bytes += "漢";
  bytes += std::string(100, 'x') + "\rend";
  const std::string whole = Sanitised({bytes});
  std::mt19937 random(3);
  EXPECT_EQ(Sanitised(RandomChunks(&random, bytes)), whole);
  EXPECT_EQ(whole.substr(whole.size() - 7), "漢xend");
}

TEST(SanitiserTest, FlushLetsTheLineStandAndGoesOnInsideACharacter) {
  Sanitiser sanitiser;
  std::string text;
  sanitiser.Write("10%\r20%\xc3", &text);
  EXPECT_EQ(sanitiser.pending_line(), "20%");
  sanitiser.Flush(&text);
  EXPECT_EQ(text, "20%");
  sanitiser.Write("\xa9\r30%\n", &text);
  EXPECT_EQ(text, "20%30%\n");
}

TEST(PrintableTest, TakesOutWhatWouldDriveATerminalOrHideText) {
  EXPECT_EQ(Printable("evil\rgood"), "evilgood");
  EXPECT_EQ(Printable("ab\b\bcd"), "abcd");
  EXPECT_EQ(Printable("a\r\nb\tc"), "a\nb\tc");
  EXPECT_EQ(Printable("\x1b]0;x\x07name\x1b[1m\xff\u202e"), "name\uFFFD");
  EXPECT_EQ(Printable(""), "");
}

}  // namespace
}  // namespace cellar::host
