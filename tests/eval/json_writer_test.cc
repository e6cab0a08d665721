#include "host/eval/json_writer.h"

#include <gtest/gtest.h>

#include "nlohmann/json.hpp"

namespace cellar::host {
namespace {

// `text` as it is embedded; "refused" when it is not.
std::string Embedded(std::string_view text, bool pretty = false) {
  JsonWriter json(pretty);
  json.BeginArray();
  if (!json.Json(text)) json.String("refused");
  return json.EndArray().Take();
}

std::string Nested(size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(JsonWriterTest, WritesOneLine) {
  JsonWriter json(/*pretty=*/false);
  json.BeginObject().Key("a").Number(-1).Key("b").BeginArray().Bool(true).Null().EndArray();
  json.Key("c").BeginObject().EndObject().Key("d").Token("0.500").EndObject();
  EXPECT_EQ(json.Take(), R"({"a":-1,"b":[true,null],"c":{},"d":0.500})");
}

TEST(JsonWriterTest, IndentsWhenPretty) {
  JsonWriter json(/*pretty=*/true);
  json.BeginObject().Key("a").Number(1).Key("b").BeginArray().String("x").BeginArray().EndArray();
  json.EndArray().EndObject();
  EXPECT_EQ(json.Take(), "{\n  \"a\": 1,\n  \"b\": [\n    \"x\",\n    []\n  ]\n}");
}

TEST(JsonWriterTest, EscapesWhatATerminalWouldObey) {
  JsonWriter json(/*pretty=*/false);
  json.BeginArray().String("\x7F\u0085\u061C\u202E\u2069\u00A0\u2070").EndArray();
  EXPECT_EQ(json.Take(), R"(["\u007f\u0085\u061c\u202e\u2069)"
                         "\u00A0\u2070\"]");
}

TEST(JsonWriterTest, EscapesStringsAndReplacesInvalidUtf8) {
  JsonWriter json(/*pretty=*/false);
  json.BeginArray()
      .String(std::string_view("\"\\\n\0é", 6))
      .String(
          "a\xff"
          "b")
      .EndArray();
  EXPECT_EQ(json.Take(), "[\"\\\"\\\\\\n\\u0000é\",\"a\uFFFDb\"]");
}

TEST(JsonWriterTest, EmbedsJsonWithItsOrderAndItsNumbers) {
  EXPECT_EQ(
      Embedded("{\"b\": 1,\n \"a\": [1.50, 1e400, 12345678901234567890123, -0, \"é\\u0041\"]}"),
      "[\"refused\"]");  // 1e400 is beyond a double
  EXPECT_EQ(
      Embedded("{\"b\": 1,\n \"a\": [1.50, 12345678901234567890123, -7, \"é\\u0041\", null]}"),
      "[{\"b\":1,\"a\":[1.50,12345678901234567890123,-7,\"éA\",null]}]");
  EXPECT_EQ(Embedded("{\"a\":[true]}", /*pretty=*/true),
            "[\n  {\n    \"a\": [\n      true\n    ]\n  }\n]");
}

TEST(JsonWriterTest, RefusesWhatIsNotJsonWithoutATrace) {
  for (const char* text :
       {"", "{", "[1,", "[1] x", "NaN", "{\"a\":Infinity}", "{'a':1}", "\"\xff\"", "\"\\ud800\""}) {
    EXPECT_EQ(Embedded(text), "[\"refused\"]") << text;
  }
  JsonWriter json(/*pretty=*/false);
  json.BeginObject().Key("a");
  EXPECT_FALSE(json.Json("{\"b\":[1"));
  json.Null().Key("c").Null().EndObject();
  EXPECT_EQ(json.Take(), R"({"a":null,"c":null})");
}

TEST(JsonWriterTest, RefusesJsonThatIsTooDeep) {
  EXPECT_EQ(Embedded(Nested(128)), "[" + Nested(128) + "]");
  EXPECT_EQ(Embedded(Nested(129)), "[\"refused\"]");
  EXPECT_EQ(Embedded(std::string(10'000'000, '[')), "[\"refused\"]");
}

TEST(JsonWriterTest, ALongTextIsTheSameInPieces) {
  std::string text = "x";
  while (text.size() < 300'000) text += "é\"\n\u202e𝄞";
  text += "\xff";
  std::string invalid(200'000, '\x80');
  JsonWriter json(/*pretty=*/false);
  json.BeginArray().String(text).String(invalid).Base64("\xff\xfe").EndArray();
  const nlohmann::json parsed = nlohmann::json::parse(json.Take());
  text.pop_back();
  EXPECT_EQ(parsed[0], text + "\uFFFD");
  EXPECT_EQ(parsed[1].get<std::string>().size(), 3 * invalid.size());
  EXPECT_EQ(parsed[2], "//4=");
}

}  // namespace
}  // namespace cellar::host
