#include "host/console/json_tree.h"

#include "gtest/gtest.h"
#include "host/console/text_width.h"

namespace cellar::host {
namespace {

TEST(JsonTreeTest, WhatIsShortIsOnOneLine) {
  EXPECT_EQ(JsonTree("{\"b\": 1, \"a\": [2]}", 2), "{\"b\":1,\"a\":[2]}");
}

TEST(JsonTreeTest, WhatIsDeepIsFolded) {
  const std::string text = R"({"name": "a name that makes this too long for a single line",
                               "deep": {"one": {"two": 2, "three": 3}, "list": [1], "none": []}})";
  EXPECT_EQ(JsonTree(text, 2), R"({
  "name": "a name that makes this too long for a single line",
  "deep": {
    "one": {… 2 keys},
    "list": [… 1 item],
    "none": []
  }
})");
  EXPECT_NE(JsonTree(text, 9)->find("\"two\": 2,"), std::string::npos);
}

TEST(JsonTreeTest, LongListsAreCut) {
  std::string text = "[0";
  for (int i = 1; i < 150; ++i) text += "," + std::to_string(i);
  EXPECT_NE(JsonTree(text + "]", 2)->find("  99,\n  … 50 more\n]"), std::string::npos);
}

TEST(JsonTreeTest, OnlyObjectsAndArrays) {
  EXPECT_EQ(JsonTree("1", 2), std::nullopt);
  EXPECT_EQ(JsonTree("{", 2), std::nullopt);
  EXPECT_EQ(JsonTree(std::string(100'000, '['), 2), std::nullopt);
}

}  // namespace
}  // namespace cellar::host
