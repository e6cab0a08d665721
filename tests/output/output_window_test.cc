#include "host/output/output_window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "host/output/line_clamp.h"
#include "tests/testing/valid_utf8.h"

namespace cellar::host {
namespace {

// "o:text" for stdout, "e:text" for stderr, "cut 5", "place 3", "gap 2 lines 17 bytes".
std::vector<std::string> Described(const OutputWindow& window) {
  std::vector<std::string> described;
  for (const OutputWindow::Item& item : window.Items()) {
    switch (item.kind) {
      case OutputWindow::Item::Kind::kText:
        described.push_back((item.stream == Stream::kStdout ? "o:" : "e:") + item.text);
        break;
      case OutputWindow::Item::Kind::kCut:
        described.push_back("cut " + std::to_string(item.bytes));
        break;
      case OutputWindow::Item::Kind::kPlace:
        described.push_back("place " + std::to_string(item.place));
        break;
      case OutputWindow::Item::Kind::kGap:
        described.push_back("gap " + std::to_string(item.lines) + " lines " +
                            std::to_string(item.bytes) + " bytes");
        break;
    }
  }
  return described;
}

using testing::ElementsAre;
using testing::IsEmpty;

constexpr Stream kOut = Stream::kStdout;
constexpr Stream kErr = Stream::kStderr;

TEST(OutputWindowTest, IsEmptyAtFirst) {
  const OutputWindow window({});
  EXPECT_THAT(Described(window), IsEmpty());
  EXPECT_EQ(window.total_lines(), 0u);
  EXPECT_FALSE(window.HasGap());
}

TEST(OutputWindowTest, KeepsStreamsInOrderAndJoinsWhatIsAdjacent) {
  OutputWindow window({});
  window.AppendText(kOut, "a");
  window.AppendText(kOut, "b\n");
  window.AppendText(kErr, "c\n");
  window.AppendText(kOut, "d");
  EXPECT_THAT(Described(window), ElementsAre("o:ab\n", "e:c\n", "o:d"));
  EXPECT_EQ(window.total_lines(), 3u);
  EXPECT_EQ(window.total_bytes(), 6u);
}

TEST(OutputWindowTest, KeepsExactlyTheBudgetWhole) {
  OutputWindow window({.head_bytes = 4, .tail_bytes = 6});
  window.AppendText(kOut, "12\n45\n78\n0");
  EXPECT_THAT(Described(window), ElementsAre("o:12\n45\n78\n0"));
  window.AppendText(kOut, "1");
  EXPECT_THAT(Described(window), ElementsAre("o:12\n", "gap 1 lines 3 bytes", "o:78\n01"));
}

TEST(OutputWindowTest, KeepsTheBudgetWholeWhenACharacterDoesNotFitTheHead) {
  OutputWindow window({.head_bytes = 4, .tail_bytes = 6});
  window.AppendText(kOut, "123é678é");
  EXPECT_THAT(Described(window), ElementsAre("o:123é678é"));
}

TEST(OutputWindowTest, CutsLinesThatAreTooLongBetweenCharacters) {
  OutputWindow window({.head_bytes = 4, .tail_bytes = 4});
  window.AppendText(kOut, "漢漢漢漢漢\n");
  EXPECT_THAT(Described(window), ElementsAre("o:漢", "gap 0 lines 9 bytes", "o:漢\n"));
}

TEST(OutputWindowTest, CountsTheCutRestOfLinesOnce) {
  OutputWindow window({.head_bytes = 8, .tail_bytes = 8});
  for (int i = 0; i < 5; ++i) {
    window.AppendText(kOut, "abc");
    window.AppendCut(kOut, 100);
    window.AppendText(kOut, "\n");
  }
  EXPECT_THAT(Described(window),
              ElementsAre("o:abc", "cut 100", "o:\nabc", "cut 100", "o:\n", "gap 1 lines 104 bytes",
                          "o:abc", "cut 100", "o:\nabc", "cut 100", "o:\n"));
  EXPECT_EQ(window.total_bytes(), 520u);
}

TEST(OutputWindowTest, LeavesNoPlaceOut) {
  OutputWindow window({.head_bytes = 4, .tail_bytes = 4});
  window.AppendPlace(1);
  for (uint32_t i = 2; i < 40; ++i) {
    window.AppendText(kOut, "x\n");
    window.AppendPlace(i);
  }
  uint32_t expected = 1;
  for (const OutputWindow::Item& item : window.Items()) {
    if (item.kind != OutputWindow::Item::Kind::kPlace) continue;
    EXPECT_EQ(item.place, expected++);
  }
  EXPECT_EQ(expected, 40u);
}

TEST(OutputWindowTest, WorksWithoutAnyBudget) {
  OutputWindow window({.head_bytes = 0, .tail_bytes = 0});
  window.AppendText(kOut, "a\nb\n");
  window.AppendPlace(7);
  window.AppendText(kErr, "c");
  EXPECT_THAT(Described(window), ElementsAre("gap 2 lines 5 bytes", "place 7"));
}

// Against a window that is cut out of the whole text.
TEST(OutputWindowTest, AgreesWithTheWholeTextForRandomAppends) {
  std::mt19937 random(99);
  for (int round = 0; round < 2000; ++round) {
    const OutputWindowLimits limits{.head_bytes = random() % 40, .tail_bytes = random() % 40};
    OutputWindow window(limits);
    std::string whole;
    for (size_t i = random() % 60; i > 0; --i) {
      std::string text;
      for (size_t j = random() % 12; j > 0; --j) {
        text += std::vector<std::string>{"a", "é", "漢", "\n", "b"}[random() % 5];
      }
      if (random() % 20 == 0) text += std::string(100, 'z') + "\n";
      whole += text;
      window.AppendText(kOut, text);
    }
    std::string before, after;
    bool has_gap = false;
    uint64_t gap_bytes = 0, gap_lines = 0;
    for (const OutputWindow::Item& item : window.Items()) {
      if (item.kind == OutputWindow::Item::Kind::kGap) {
        has_gap = true;
        gap_bytes = item.bytes;
        gap_lines = item.lines;
      }
      (has_gap ? after : before) += item.text;
    }
    ASSERT_EQ(has_gap, whole.size() > limits.head_bytes + limits.tail_bytes);
    ASSERT_EQ(window.total_bytes(), whole.size());
    ASSERT_LE(before.size() + after.size(), limits.head_bytes + limits.tail_bytes);
    ASSERT_EQ(before.size() + gap_bytes + after.size(), whole.size());
    ASSERT_EQ(before, whole.substr(0, before.size()));
    ASSERT_EQ(after, whole.substr(whole.size() - after.size()));
    ASSERT_TRUE(IsValidUtf8(before) && IsValidUtf8(after));
    const std::string gap = whole.substr(before.size(), gap_bytes);
    ASSERT_EQ(static_cast<ptrdiff_t>(gap_lines), std::count(gap.begin(), gap.end(), '\n'));
  }
}

TEST(LineClampTest, LetsLinesOfExactlyTheLimitThrough) {
  OutputWindow window({});
  LineClamp clamp(3);
  clamp.Append(kOut, "abc\n漢漢漢\nabcd\n", &window);
  EXPECT_THAT(Described(window), ElementsAre("o:abc\n漢漢漢\nabc", "cut 1", "o:\n"));
  EXPECT_TRUE(clamp.has_cut());
}

TEST(LineClampTest, CountsCharactersOverAppends) {
  OutputWindow window({});
  LineClamp clamp(3);
  for (std::string_view part : {"é", "é", "éé", "漢x", "\nab", "\n"})
    clamp.Append(kOut, part, &window);
  EXPECT_THAT(Described(window), ElementsAre("o:ééé", "cut 6", "o:\nab\n"));
}

TEST(LineClampTest, CutsNothingWithoutALimit) {
  OutputWindow window({});
  LineClamp clamp(0);
  clamp.Append(kOut, std::string(10'000, 'x'), &window);
  EXPECT_EQ(window.total_bytes(), 10'000u);
  EXPECT_FALSE(clamp.has_cut());
}

}  // namespace
}  // namespace cellar::host
