#include "host/base/utf8.h"

#include "gtest/gtest.h"

namespace cellar {
namespace {

TEST(Utf8Test, WellFormedCharactersHaveASize) {
  EXPECT_EQ(Utf8CharacterSize("a"), 1u);
  EXPECT_EQ(Utf8CharacterSize("é!"), 2u);
  EXPECT_EQ(Utf8CharacterSize("\xED\x9F\xBF"), 3u);  // the last before the surrogates
  EXPECT_EQ(Utf8CharacterSize("\xF4\x8F\xBF\xBF"), 4u);
  EXPECT_EQ(Utf8CharacterSize(std::string_view("\0", 1)), 1u);
}

TEST(Utf8Test, OverlongSurrogateCutAndStrayBytesHaveNone) {
  for (const char* text : {"", "\x80", "\xC0\xAF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xE2\x82",
                           "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"}) {
    EXPECT_EQ(Utf8CharacterSize(text), 0u) << text;
  }
}

TEST(Utf8Test, CodePointsAreThoseOfTheStandard) {
  EXPECT_EQ(CodePointOf("a"), U'a');
  EXPECT_EQ(CodePointOf("é"), U'é');
  EXPECT_EQ(CodePointOf("日"), U'日');
  EXPECT_EQ(CodePointOf("😀"), U'😀');
}

TEST(Utf8Test, TheFirstInvalidByteIsFound) {
  EXPECT_EQ(FindInvalidUtf8("日本"), std::nullopt);
  EXPECT_EQ(FindInvalidUtf8("日\xFF"), 3u);
  EXPECT_EQ(FindInvalidUtf8("ab\xE6\x97"), 2u);
}

TEST(Utf8Test, WhatIsNoCharacterIsReplacedAndTheRestKept) {
  EXPECT_EQ(ReplaceInvalidUtf8(""), "");
  EXPECT_EQ(ReplaceInvalidUtf8("日本"), "日本");
  EXPECT_EQ(ReplaceInvalidUtf8("/tmp/\xFF日\xE6\x97"), "/tmp/\uFFFD日\uFFFD\uFFFD");
}

}  // namespace
}  // namespace cellar
