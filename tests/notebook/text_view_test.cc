#include "notebook/text_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "notebook/action.h"
#include "notebook/marker.h"

namespace cellar::notebook {
namespace {

using testing::ElementsAre;

// A notebook with these code cells.
Document CodeCells(const std::vector<std::string>& sources) {
  Document document = Document::Empty();
  for (const std::string& source : sources) {
    document = InsertCell(document, document.cell_count(), CellType::kCode, source)->document;
  }
  return document;
}

std::vector<std::string> SourcesOf(const std::string& text) {
  absl::StatusOr<EditedText> edited = EditedText::Parse(text);
  if (!edited.ok()) return {std::string(edited.status().message())};
  std::vector<std::string> sources;
  for (const TextCell& cell : edited->cells()) sources.push_back(edited->Source(cell));
  return sources;
}

TEST(TextViewTest, ShowsEachCellBehindAMarker) {
  Document document = CodeCells({"a = 1\nb = 2", "", "c\n"});
  document = InsertCell(document, 3, CellType::kMarkdown, "# T")->document;
  EXPECT_EQ(RenderText(document),
            "# %% [code] cell:0\na = 1\nb = 2\n# %% [code] cell:1\n# %% [code] cell:2\nc\n\n"
            "# %% [markdown] cell:3\n# T\n");
}

TEST(TextViewTest, EveryTextComesBackFromTheView) {
  const std::vector<std::string> sources = {"",
                                            "\n",
                                            "\n\n",
                                            "x",
                                            "x\n",
                                            "\nx\n\n",
                                            "# %% [code] cell:0",
                                            "# %%% [markdown]\n# %%%% [raw] cell:7",
                                            "# %% [outputs] cell:1\nlost?",
                                            "# %% [code] \t\n# %% [code]x\n#%% [code]",
                                            "a\r\nb\r",
                                            " # %% [code]",
                                            "# %% [code] cell:99999999999999999999",
                                            "# %% [code] cell:0\r"};
  EXPECT_EQ(SourcesOf(RenderText(CodeCells(sources))), sources);
}

TEST(TextViewTest, MarkerLikeLinesGainAPercentSign) {
  EXPECT_EQ(RenderText(CodeCells({"# %% [raw]\n# %%% [code] cell:2\n# %% title"})),
            "# %% [code] cell:0\n# %%% [raw]\n# %%%% [code] cell:2\n# %% title\n");
}

TEST(TextViewTest, TextMustStartWithAMarker) {
  for (const char* text : {"x = 1\n", "\n# %% [code]\n", " # %% [code]\n", "# %%% [code]\n",
                           "# %% [outputs]\n", "# %% [python]\n"}) {
    EXPECT_THAT(SourcesOf(text),
                ElementsAre(testing::StartsWith("line 1: the first line must be")));
  }
  EXPECT_THAT(SourcesOf(""), ElementsAre());
}

TEST(TextViewTest, ReadsTextWithoutAFinalNewline) {
  EXPECT_THAT(SourcesOf("# %% [code]"), ElementsAre(""));
  EXPECT_THAT(SourcesOf("# %% [code]\nx"), ElementsAre("x"));
  EXPECT_THAT(SourcesOf("# %% [code]\nx\n"), ElementsAre("x"));
  EXPECT_THAT(SourcesOf("# %% [code]\nx\n\n"), ElementsAre("x\n"));
}

TEST(TextViewTest, ReadsTextThatAnEditorGaveCrlf) {
  EXPECT_THAT(SourcesOf("# %% [code] cell:0\r\na\r\nb\r\n# %% [raw]\r\nc\r\n"),
              ElementsAre("a\nb", "c"));
}

TEST(TextViewTest, OutputsAreShownAndSkippedOnTheWayBack) {
  const Document document = *Document::Parse(
      R"({"cells": [{"cell_type": "code", "source": "x\n", "outputs": [)"
      R"({"output_type": "stream", "name": "stdout", "text": ["# %% [code] cell:5\n", "two"]},)"
      R"({"output_type": "execute_result", "data": {"image/png": "AAAA", "text/plain": "42"}},)"
      R"({"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["\u001b[31mred\u001b[0m"]},)"
      R"({"output_type": "pyout", "text": ["old"], "prompt_number": 3}]}]})");
  const std::string text = RenderText(document, {.outputs = true});
  EXPECT_EQ(
      text,
      "# %% [code] cell:0\nx\n\n# %% [outputs] cell:0\n# [stdout]\n# # %% [code] cell:5\n# two\n"
      "# [execute_result]\n# 42\n# (image/png, 3 bytes)\n# [error]\n# red\n# [pyout]\n# old\n");
  EXPECT_THAT(SourcesOf(text), ElementsAre("x\n"));
}

TEST(TextViewTest, APrintedLineThatLooksLikeAMarkerIsNoCell) {
  const Document document = *Document::Parse(
      R"({"cells": [{"cell_type": "code", "source": "x", "outputs": [)"
      R"({"output_type": "stream", "name": "stdout", "text": "%% [code] cell:1\n%%% [raw]\n"}]},)"
      R"({"cell_type": "code", "source": "y", "outputs": []}]})");
  const std::string text = RenderText(document, {.outputs = true});
  EXPECT_EQ(text,
            "# %% [code] cell:0\nx\n# %% [outputs] cell:0\n# [stdout]\n# %%% [code] cell:1\n"
            "# %%%% [raw]\n# %% [code] cell:1\ny\n");
  EXPECT_THAT(SourcesOf(text), ElementsAre("x", "y"));
}

TEST(LineRangesTest, SelectsLinesOfTheText) {
  const std::string text = "1\n2\n3\n4\n5";
  auto select = [&](std::string_view ranges) {
    return *SelectLines(text, *ParseLineRanges(ranges));
  };
  EXPECT_EQ(select("2"), "2\n");
  EXPECT_EQ(select("2-3"), "2\n3\n");
  EXPECT_EQ(select("4-,1-1"), "4\n51\n");
  EXPECT_EQ(select("5-99"), "5");
  EXPECT_EQ(SelectLines(text, *ParseLineRanges("6")).status().message(),
            "line 6 is past the end: there are 5 lines");
}

TEST(LineRangesTest, RefusesWhatIsNoRange) {
  for (const char* ranges : {"", "0", "a", "3-2", "1,", "1-2-3", "-3", "1 -2"}) {
    EXPECT_FALSE(ParseLineRanges(ranges).ok()) << ranges;
  }
}

}  // namespace
}  // namespace cellar::notebook
