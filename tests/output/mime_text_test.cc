#include "host/output/mime_text.h"

#include <gtest/gtest.h>

#include <vector>

namespace cellar::host {
namespace {

using Bundle = std::vector<MimeData>;

TEST(MimeTextTest, PrefersMarkdownThenPlainTextThenHtml) {
  const MimeData html{"text/html", "<b>h</b>"};
  const MimeData plain{"text/plain", "p"};
  const MimeData markdown{"text/markdown", "**m**"};
  const MimeData image{"image/png", "\x89PNG"};
  EXPECT_EQ(TranscriptText(Bundle{html, plain, markdown}), "**m**");
  EXPECT_EQ(TranscriptText(Bundle{html, image, plain}), "p");
  EXPECT_EQ(TranscriptText(Bundle{image, html}), "**h**");
}

TEST(MimeTextTest, PassesOverEmptyText) {
  EXPECT_EQ(TranscriptText(Bundle{{"text/markdown", ""}, {"text/plain", "p"}}), "p");
}

TEST(MimeTextTest, GivesNothingWithoutText) {
  EXPECT_EQ(TranscriptText(Bundle{}), std::nullopt);
  EXPECT_EQ(TranscriptText(Bundle{{"image/png", "x"}, {"application/json", "{}"}}), std::nullopt);
}

TEST(MimeTextTest, GivesTextThatCannotDriveATerminal) {
  EXPECT_EQ(TranscriptText(Bundle{{"text/plain", "\x1b[31mred\xff"}}), "red\uFFFD");
  EXPECT_EQ(TranscriptText(Bundle{{"text/html", "<p>&#27;[31mred&#x202e;</p>"}}), "red");
}

}  // namespace
}  // namespace cellar::host
