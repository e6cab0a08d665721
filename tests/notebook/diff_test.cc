#include "notebook/diff.h"

#include <gtest/gtest.h>

#include <random>

namespace cellar::notebook {
namespace {

TEST(DiffTest, EqualTextsHaveNone) { EXPECT_EQ(UnifiedDiff("a\n", "a\n", "x", "y"), ""); }

TEST(DiffTest, ShowsChangesWithContext) {
  EXPECT_EQ(UnifiedDiff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\n5\nsix\n7\n8\n9\n", "x", "y"),
            "--- x\n+++ y\n@@ -3,7 +3,7 @@\n 3\n 4\n 5\n-6\n+six\n 7\n 8\n 9\n");
}

TEST(DiffTest, FarChangesAreApart) {
  std::string before, after;
  for (int i = 0; i < 30; ++i) {
    before += std::to_string(i) + "\n";
    after += (i == 2 || i == 25 ? "x" : "") + std::to_string(i) + "\n";
  }
  EXPECT_EQ(UnifiedDiff(before, after, "x", "y"),
            "--- x\n+++ y\n@@ -1,6 +1,6 @@\n 0\n 1\n-2\n+x2\n 3\n 4\n 5\n"
            "@@ -23,7 +23,7 @@\n 22\n 23\n 24\n-25\n+x25\n 26\n 27\n 28\n");
}

TEST(DiffTest, WorksFromAndToNothing) {
  EXPECT_EQ(UnifiedDiff("", "a\nb", "x", "y"),
            "--- x\n+++ y\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n");
  EXPECT_EQ(UnifiedDiff("a\n", "", "x", "y"), "--- x\n+++ y\n@@ -1,1 +0,0 @@\n-a\n");
}

// Takes the new text out of a diff that has all the lines of both texts.
std::string NewTextOf(const std::string& diff) {
  std::string text;
  size_t pos = diff.find("@@\n") + 3;
  while (pos < diff.size()) {
    const size_t end = diff.find('\n', pos);
    if (diff[pos] != '-') text += diff.substr(pos + 1, end - pos);
    pos = end + 1;
  }
  return text;
}

TEST(DiffTest, RandomTextsComeOutOfTheirDiffs) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    std::string before = "start\n", after = "START\n";
    for (int i = random() % 5; i > 0; --i) before += std::string(1, 'a' + random() % 3) + "\n";
    for (int i = random() % 5; i > 0; --i) after += std::string(1, 'a' + random() % 3) + "\n";
    EXPECT_EQ(NewTextOf(UnifiedDiff(before, after, "x", "y")), after) << before;
  }
}

TEST(DiffTest, TextsWithNothingInCommonAreNotSearchedForever) {
  std::string before, after;
  for (int i = 0; i < 20000; ++i) {
    before += "a" + std::to_string(i) + "\n";
    after += "b" + std::to_string(i) + "\n";
  }
  EXPECT_EQ(NewTextOf(UnifiedDiff(before, after, "x", "y")), after);
}

}  // namespace
}  // namespace cellar::notebook
