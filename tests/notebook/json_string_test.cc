#include "notebook/json_string.h"

#include <gtest/gtest.h>

namespace cellar::notebook {
namespace {

TEST(JsonStringTest, DecodesEveryEscape) {
  EXPECT_EQ(Decoded(R"("a\"\\\/\b\f\n\r\t\u0041\u00e9")"), "a\"\\/\b\f\n\r\tAé");
  EXPECT_EQ(Decoded(R"("\ud83d\ude00\uD83D\uDE00")"), "😀😀");
  EXPECT_EQ(Decoded(R"("\u0000")"), std::string(1, '\0'));
}

TEST(JsonStringTest, LoneSurrogatesComeBackAsTheyWere) {
  for (const char* json :
       {R"("\ud800")", R"("\udc00x")", R"("\ud800\ud800")", R"("\ud83d\n\ude00")"}) {
    const std::string text = Decoded(json);
    EXPECT_TRUE(IsEncodable(text));
    EXPECT_EQ(Quoted(text, {}), json);
  }
}

TEST(JsonStringTest, WritesLikePythonByDefault) {
  EXPECT_EQ(Quoted("é <b>/ \x7f\x1b\t\"\\", {}), "\"é <b>/ \x7f\\u001b\\t\\\"\\\\\"");
}

TEST(JsonStringTest, WritesInTheStyleAskedFor) {
  EXPECT_EQ(Quoted("é😀", {.ascii = true}), R"("\u00e9\ud83d\ude00")");
  EXPECT_EQ(Quoted("<a&b>", {.html = true}), R"("\u003ca\u0026b\u003e")");
  EXPECT_EQ(Quoted("\x1b<", {.html = true, .upper_hex = true}), R"("\u001B\u003C")");
}

TEST(JsonStringTest, KnowsWhatIsNotUtf8) {
  for (const char* text : {"\xff", "\xc0\x80", "\xe2\x82", "\xf4\x90\x80\x80", "a\x80"}) {
    EXPECT_FALSE(IsEncodable(text));
  }
  EXPECT_EQ(Quoted("a\xff z", {}), R"("a\ufffd z")");
}

TEST(JsonStringTest, ComparesKeysByWhatTheyStandFor) {
  EXPECT_TRUE(StandsFor(R"("so\u0075rce")", "source"));
  EXPECT_FALSE(StandsFor(R"("sources")", "source"));
}

}  // namespace
}  // namespace cellar::notebook
