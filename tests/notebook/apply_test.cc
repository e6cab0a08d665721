#include "notebook/apply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/notebook/cells.h"

namespace cellar::notebook {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr char kNotebook[] = R"json({
 "cells": [
  {
   "cell_type": "markdown",
   "id": "title",
   "metadata": {"tags": []},
   "attachments": {"a.png": {"image/png": "AAAA"}},
   "source": [
    "# Title\u003c"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 5,
   "id": "work",
   "metadata": {
    "colab":   1
   },
   "outputs": [
    {"output_type": "stream", "name": "stdout", "text": "hi"}
   ],
   "source": [
    "a = 1\n",
    "b = 2\n",
    "print('hi')"
   ]
  }
 ],
 "metadata": {},
 "nbformat": 4,
 "nbformat_minor": 5
}
)json";

absl::StatusOr<Applied> ApplyTo(const std::string& notebook, const std::string& text,
                                const ApplyOptions& options = {}) {
  absl::StatusOr<EditedText> edited = EditedText::Parse(text);
  if (!edited.ok()) return edited.status();
  return Apply(*Document::Parse(notebook), *edited, options);
}

// The bytes after applying, or the old ones if nothing changed, or the error.
std::string Result(const std::string& text, const ApplyOptions& options = {}) {
  absl::StatusOr<Applied> applied = ApplyTo(kNotebook, text, options);
  if (!applied.ok()) return std::string(applied.status().message());
  return applied->document ? applied->document->bytes() : kNotebook;
}

std::string Replaced(std::string text, std::string_view old, std::string_view by) {
  const size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return text.replace(at, old.size(), by);
}

const std::string kText = RenderText(*Document::Parse(kNotebook));
const std::string kOutputs =
    "[\n    {\"output_type\": \"stream\", \"name\": \"stdout\", \"text\": \"hi\"}\n   ]";

TEST(ApplyTest, UnchangedTextChangesNothing) {
  EXPECT_FALSE(ApplyTo(kNotebook, kText)->document.has_value());
}

TEST(ApplyTest, ChangedLineIsTheOnlyLineThatChanges) {
  EXPECT_EQ(
      Result(Replaced(kText, "b = 2", "b = \"é\"\nc = 3"), {.keep_outputs = true}),
      Replaced(kNotebook, "    \"b = 2\\n\",\n", "    \"b = \\\"é\\\"\\n\",\n    \"c = 3\\n\",\n"));
}

TEST(ApplyTest, ChangedCodeLosesItsOutputsUnlessAsked) {
  const std::string text = Replaced(kText, "a = 1", "a = 2");
  const std::string kept = Replaced(kNotebook, "a = 1", "a = 2");
  EXPECT_EQ(Result(text, {.keep_outputs = true}), kept);
  EXPECT_EQ(Result(text), Replaced(kept, kOutputs, "[]"));
  EXPECT_THAT(ApplyTo(kNotebook, text)->cleared, ElementsAre(1));
}

TEST(ApplyTest, MovedCellsKeepTheirBytes) {
  const Document before = *Document::Parse(kNotebook);
  const std::string text = RenderCell(before, 1) + RenderCell(before, 0);
  const Document after = *ApplyTo(kNotebook, text)->document;
  EXPECT_EQ(Slice(after.bytes(), after.span(0)), Slice(before.bytes(), before.span(1)));
  EXPECT_EQ(Slice(after.bytes(), after.span(1)), Slice(before.bytes(), before.span(0)));
}

TEST(ApplyTest, CellWithoutANumberIsNew) {
  absl::StatusOr<Applied> applied = ApplyTo(kNotebook, kText + "# %% [code]\nx\n");
  EXPECT_EQ(applied->added, 1u);
  EXPECT_THAT(MembersExcept(*applied->document, 2, {"id"}),
              ElementsAre("\"cell_type\": \"code\"", "\"execution_count\": null",
                          "\"metadata\": {}", "\"outputs\": []", "\"source\": [\n    \"x\"\n   ]"));
  EXPECT_TRUE(applied->document->Id(2).has_value());
}

TEST(ApplyTest, NumberUsedTwiceOrOutOfRangeIsNew) {
  absl::StatusOr<Applied> applied =
      ApplyTo(kNotebook, kText + "# %% [code] cell:1\ncopy\n# %% [raw] cell:9\nx\n");
  EXPECT_EQ(applied->added, 2u);
  EXPECT_EQ(applied->changed, 0u);
  EXPECT_EQ(applied->document->cell_count(), 4u);
  EXPECT_NE(applied->document->Id(2), "work");
}

TEST(ApplyTest, CellNotNamedIsRemoved) {
  absl::StatusOr<Applied> applied = ApplyTo(kNotebook, "# %% [markdown] cell:0\n# Title<\n");
  EXPECT_EQ(applied->removed, 1u);
  EXPECT_EQ(applied->document->cell_count(), 1u);
  EXPECT_THAT(applied->document->bytes(), Not(HasSubstr("print")));
}

TEST(ApplyTest, CodeMadeTextLosesOutputsAndCount) {
  const std::string result = Result(Replaced(kText, "[code] cell:1", "[raw] cell:1"));
  std::string expected = Replaced(kNotebook, "\"cell_type\": \"code\"", "\"cell_type\": \"raw\"");
  expected = Replaced(expected, "   \"execution_count\": 5,\n", "");
  EXPECT_EQ(result, Replaced(expected, "   \"outputs\": " + kOutputs + ",\n", ""));
}

TEST(ApplyTest, TextMadeCodeGetsOutputsAndCountAndKeepsTheRest) {
  const std::string result = Result(Replaced(kText, "[markdown] cell:0", "[code] cell:0"));
  std::string expected =
      Replaced(kNotebook, "\"cell_type\": \"markdown\"", "\"cell_type\": \"code\"");
  EXPECT_EQ(result, Replaced(expected, "    \"# Title\\u003c\"\n   ]",
                             "    \"# Title\\u003c\"\n   ],\n   \"execution_count\": null,\n"
                             "   \"outputs\": []"));
}

TEST(ApplyTest, EmptySourceIsAnEmptyList) {
  EXPECT_EQ(Result("# %% [markdown] cell:0\n" + RenderCell(*Document::Parse(kNotebook), 1)),
            Replaced(kNotebook, "[\n    \"# Title\\u003c\"\n   ]", "[]"));
}

TEST(ApplyTest, EmptyTextDoesNotEmptyTheNotebook) {
  EXPECT_EQ(Result(""), "the text is empty, which would remove every cell");
}

TEST(ApplyTest, TextThatIsNotUtf8IsRefusedWithItsCell) {
  EXPECT_EQ(Result(kText + "# %% [raw]\n\xff\n"), "cell 2 of the text is not UTF-8");
}

TEST(ApplyTest, LoneSurrogatesInSourcesSurviveTheWayThroughJson) {
  const std::string notebook = Replaced(kNotebook, "a = 1\\n", "a = '\\ud83d'\\n");
  const std::string text = RenderText(*Document::Parse(notebook));
  EXPECT_FALSE(ApplyTo(notebook, text)->document.has_value());
  const std::string shown = Replaced(text, "\xED\xA0\xBD", "\uFFFD\uFFFD\uFFFD");
  EXPECT_FALSE(ApplyTo(notebook, shown)->document.has_value());
  const absl::StatusOr<Applied> applied = ApplyTo(notebook, Replaced(shown, "# Title<", "# Other"));
  EXPECT_EQ(applied->changed, 1u);
  EXPECT_EQ(applied->document->bytes(), Replaced(notebook, "# Title\\u003c", "# Other"));
}

TEST(ApplyTest, CarriageReturnsInSourcesSurviveAnEditorThatAddsThem) {
  const std::string notebook = Replaced(kNotebook, "a = 1\\n", "a = 1\\r\\n");
  std::string text = RenderText(*Document::Parse(notebook));
  text = WithoutCarriageReturns(text);
  std::string crlf;
  for (char c : text) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_FALSE(ApplyTo(notebook, crlf)->document.has_value());
}

TEST(ApplyTest, CellsOfSeveralWorksheetsStayInTheirs) {
  const std::string notebook =
      R"({"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code", "input": "a"}]},)"
      R"( {"cells": [{"cell_type": "raw", "source": "b"}]}]})";
  EXPECT_EQ(ApplyTo(notebook, "# %% [code] cell:0\na2\n# %% [raw] cell:1\nb2\n")->document->bytes(),
            Replaced(Replaced(notebook, "\"a\"", "\"a2\""), "\"b\"", "\"b2\""));
  const Document reversed =
      *ApplyTo(notebook, "# %% [raw] cell:1\nb\n# %% [code] cell:0\na\n")->document;
  EXPECT_EQ(RenderText(reversed), "# %% [raw] cell:0\nb\n# %% [code] cell:1\na\n");
}

}  // namespace
}  // namespace cellar::notebook
