#include "host/repl/python_tokens.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cellar::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The tokens as "kind:text".
std::vector<std::string> Tokens(std::string_view source) {
  static constexpr const char* kNames[] = {"keyword", "builtin", "definition", "string",
                                           "number",  "comment", "decorator",  "magic"};
  std::vector<std::string> tokens;
  for (const Token& token : FindTokens(source)) {
    tokens.push_back(std::string(kNames[static_cast<int>(token.kind)]) + ":" +
                     std::string(source.substr(token.begin, token.end - token.begin)));
  }
  return tokens;
}

TEST(PythonTokensTest, KeywordsBuiltinsAndNames) {
  EXPECT_THAT(Tokens("for x in range(y): pass"),
              ElementsAre("keyword:for", "keyword:in", "builtin:range", "keyword:pass"));
  EXPECT_THAT(Tokens("fortune = printer"), IsEmpty());
  EXPECT_THAT(Tokens("x.print.id"), IsEmpty());
  EXPECT_THAT(Tokens("async def print(): ..."),
              ElementsAre("keyword:async", "keyword:def", "definition:print"));
}

TEST(PythonTokensTest, StringsOfEveryKind) {
  EXPECT_THAT(Tokens("'a\\'b' + rb\"c\""), ElementsAre("string:'a\\'b'", "string:rb\"c\""));
  EXPECT_THAT(Tokens("'''a\n# no comment\n'''; 1"),
              ElementsAre("string:'''a\n# no comment\n'''", "number:1"));
  EXPECT_THAT(Tokens("x = 'not closed\ny = 1"), ElementsAre("string:'not closed", "number:1"));
  EXPECT_THAT(Tokens("'''not closed\nif"), ElementsAre("string:'''not closed\nif"));
  EXPECT_THAT(Tokens("'ends in \\"), ElementsAre("string:'ends in \\"));
}

TEST(PythonTokensTest, ExpressionsInsideOfFStrings) {
  EXPECT_THAT(Tokens("f'a {len(x):>{1}} b'"),
              ElementsAre("string:f'a {", "builtin:len", "string::>{", "number:1", "string:}} b'"));
  EXPECT_THAT(Tokens("f'{{x}} {y!r}'"), ElementsAre("string:f'{{x}} {", "string:!r}'"));
  EXPECT_THAT(Tokens("f'{'"), ElementsAre("string:f'{", "string:'"));
}

TEST(PythonTokensTest, NumbersCommentsDecorators) {
  EXPECT_THAT(Tokens("0xFFe+1, 1_0.5e-3j, .5, x1"),
              ElementsAre("number:0xFFe", "number:1", "number:1_0.5e-3j", "number:.5"));
  EXPECT_THAT(Tokens("a @ b  # why\n@cache.x\n"),
              ElementsAre("comment:# why", "decorator:@cache.x"));
}

TEST(PythonTokensTest, MagicsAreNotOperators) {
  EXPECT_THAT(Tokens("%timeit x % 2"), ElementsAre("magic:%timeit", "number:2"));
  EXPECT_THAT(Tokens("%%bash\nls"), ElementsAre("magic:%%bash"));
  EXPECT_THAT(Tokens("x = !ls -l 'a'"), ElementsAre("magic:!ls -l 'a'"));
  EXPECT_THAT(Tokens("a != b"), IsEmpty());
  EXPECT_THAT(Tokens("x?"), ElementsAre("magic:?"));
  EXPECT_THAT(Tokens("(a\n% b)"), IsEmpty());
}

TEST(PythonTokensTest, TokensNeverOverlapWhateverTheText) {
  const std::string alphabet = "f'\"{}()\\#\n @%!?:a1.";
  uint32_t random = 1;
  for (int round = 0; round < 20'000; ++round) {
    std::string source;
    for (int i = 0; i < 12; ++i) {
      random = random * 1664525 + 1013904223;
      source += alphabet[(random >> 16) % alphabet.size()];
    }
    size_t at = 0;
    for (const Token& token : FindTokens(source)) {
      ASSERT_LE(at, token.begin) << source;
      ASSERT_LT(token.begin, token.end) << source;
      ASSERT_LE(token.end, source.size()) << source;
      at = token.end;
    }
  }
}

}  // namespace
}  // namespace cellar::host
