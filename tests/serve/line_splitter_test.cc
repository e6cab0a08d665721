#include "host/serve/line_splitter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cellar::host {
namespace {

std::vector<std::string> Split(LineSplitter& splitter, std::string_view bytes) {
  std::vector<std::string> lines;
  splitter.Write(
      bytes, [&](std::string_view line) { lines.emplace_back(line); },
      [&] { lines.emplace_back("<too long>"); });
  return lines;
}

using Lines = std::vector<std::string>;

TEST(LineSplitterTest, KeepsALineUntilItsEndHasCome) {
  LineSplitter splitter(100);
  EXPECT_EQ(Split(splitter, "a"), Lines());
  EXPECT_TRUE(splitter.has_partial_line());
  EXPECT_EQ(Split(splitter, "b\n\nc"), (Lines{"ab", ""}));
  EXPECT_EQ(Split(splitter, "\n"), Lines{"c"});
  EXPECT_FALSE(splitter.has_partial_line());
}

TEST(LineSplitterTest, SaysOnceThatALineIsTooLongAndGoesOnAfterIt) {
  LineSplitter splitter(3);
  EXPECT_EQ(Split(splitter, "abc\n"), Lines{"abc"});
  EXPECT_EQ(Split(splitter, "ab"), Lines());
  EXPECT_EQ(Split(splitter, "cd"), Lines{"<too long>"});
  EXPECT_EQ(Split(splitter, "efgh"), Lines());
  EXPECT_EQ(Split(splitter, "i\nj\n"), Lines{"j"});
}

}  // namespace
}  // namespace cellar::host
