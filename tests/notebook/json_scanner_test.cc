#include "notebook/json_scanner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "notebook/json_location.h"

namespace cellar::notebook {
namespace {

using testing::ElementsAre;

// The scanner's complaint about `text` as a value, with its offset; empty if there is none.
std::string Complaint(std::string_view text) {
  JsonScanner scanner(text);
  Span value;
  scanner.SkipValue(&value);
  if (!scanner.failed()) scanner.ExpectEnd();
  if (!scanner.failed()) return "";
  return std::to_string(scanner.offset()) + ": " + scanner.failure();
}

TEST(JsonScannerTest, AcceptsEveryKindOfValue) {
  for (const char* text : {"{}",
                           "[]",
                           "\"\"",
                           "0",
                           "-0",
                           "1E5",
                           "-1.5e-300",
                           "1e400",
                           "123456789012345678901234567890",
                           "true",
                           "false",
                           "null",
                           "NaN",
                           "Infinity",
                           "-Infinity",
                           " [ ] ",
                           "{\"a\":[{},[[]],1]}",
                           "\"\\u00e9\\ud800 \\/\\b\\f\\n\\r\\t\\\\\\\"\"",
                           "{\"a\":1,\"a\":2}",
                           "\"\x7f\xff\"",
                           "\"exactly8\"",
                           "\"ninechars\"",
                           "\r\n\t [1 , 2]\r\n"}) {
    EXPECT_EQ(Complaint(text), "") << text;
  }
}

TEST(JsonScannerTest, RefusesWhatIsNotJsonAtTheRightPlace) {
  EXPECT_EQ(Complaint(""), "0: expected a value");
  EXPECT_EQ(Complaint("nul"), "0: expected a value");
  EXPECT_EQ(Complaint("[1,]"), "3: expected a value");
  EXPECT_EQ(Complaint("[1 2]"), "3: expected ',' or ']'");
  EXPECT_EQ(Complaint("[1}"), "2: expected ',' or ']'");
  EXPECT_EQ(Complaint("{\"a\" 1}"), "5: expected ':'");
  EXPECT_EQ(Complaint("{\"a\":1,}"), "7: expected a string in double quotes");
  EXPECT_EQ(Complaint("{'a':1}"), "1: expected a string in double quotes");
  EXPECT_EQ(Complaint("\"abc"), "4: expected the end of a string");
  EXPECT_EQ(Complaint("\"a\nb\""), "2: expected no bare control character in a string");
  EXPECT_EQ(Complaint("\"\\x\""), "1: expected an escape that JSON knows");
  EXPECT_EQ(Complaint("\"\\u12g4\""), "1: expected an escape that JSON knows");
  EXPECT_EQ(Complaint("\"\\"), "1: expected an escape that JSON knows");
  EXPECT_EQ(Complaint("01"), "1: expected nothing more");
  EXPECT_EQ(Complaint("1."), "2: expected a digit");
  EXPECT_EQ(Complaint("1e+"), "3: expected a digit");
  EXPECT_EQ(Complaint("-"), "1: expected a digit");
  EXPECT_EQ(Complaint("{} {}"), "3: expected nothing more");
}

TEST(JsonScannerTest, FindsTheEndOfStringsOfEveryLength) {
  for (size_t length = 0; length < 40; ++length) {
    const std::string plain(length, 'x');
    EXPECT_EQ(Complaint("\"" + plain + "\""), "");
    EXPECT_EQ(Complaint("\"" + plain + "\\\"\""), "");
    EXPECT_EQ(Complaint("\"" + plain + "\x01\""),
              std::to_string(length + 1) + ": expected no bare control character in a string");
    EXPECT_EQ(Complaint("\"" + plain),
              std::to_string(length + 1) + ": expected the end of a string");
  }
}

TEST(JsonScannerTest, RefusesNestingBeyondTheLimit) {
  const std::string open(kMaxJsonDepth, '[');
  const std::string close(kMaxJsonDepth, ']');
  EXPECT_EQ(Complaint(open + close), "");
  EXPECT_EQ(Complaint("[" + open + close + "]"),
            std::to_string(kMaxJsonDepth) + ": expected less nesting");
}

TEST(JsonScannerTest, ReportsWhereMembersAndItemsLie) {
  const std::string text = " {\"a\" : [1, {\"b\": 2}] , \"c\":\"d\"} ";
  std::vector<std::string> seen;
  for (const Member& member : Members(text, {1, 0})) {
    seen.emplace_back(Slice(text, member.key));
    seen.emplace_back(Slice(text, member.value));
  }
  EXPECT_THAT(seen, ElementsAre("\"a\"", "[1, {\"b\": 2}]", "\"c\"", "\"d\""));
  std::vector<std::string> items;
  for (Span item : Items(text, {8, 0})) items.emplace_back(Slice(text, item));
  EXPECT_THAT(items, ElementsAre("1", "{\"b\": 2}"));
}

TEST(JsonLocationTest, NamesLineColumnAndPath) {
  const std::string text = "{\n \"cells\": [\n  {\"é, x\": 1, \"source\": [\"a\", \"b\"";
  EXPECT_EQ(DescribeLocation(text, 0), "line 1, column 1");
  EXPECT_EQ(DescribeLocation(text, text.find("\"b\"")), "line 3, column 31, in cells[0].source[1]");
  EXPECT_EQ(DescribeLocation(text, text.find("1,")), "line 3, column 12, in cells[0].é, x");
  EXPECT_EQ(DescribeLocation("\xef\xbb\xbf{", 4), "line 1, column 2");
}

}  // namespace
}  // namespace cellar::notebook
