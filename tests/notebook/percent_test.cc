#include "notebook/percent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "notebook/action.h"
#include "notebook/percent_code.h"
#include "notebook/text_view.h"

namespace cellar::notebook {
namespace {

using testing::HasSubstr;

Document Cells(const std::vector<std::pair<CellType, std::string>>& cells) {
  Document document =
      *Document::Parse(R"({"cells":[],"metadata":{},"nbformat":4,"nbformat_minor":4})");
  for (const auto& [type, source] : cells) {
    document = InsertCell(document, document.cell_count(), type, source)->document;
  }
  return document;
}

// The script without its header.
std::string Body(const Document& document) {
  const std::string script = *ToPercent(document);
  return script.substr(script.find("# ---\n\n") + 7);
}

TEST(PercentTest, CellsAreMarkedAndSeparatedByABlankLine) {
  EXPECT_EQ(Body(Cells({{CellType::kCode, "a = 1\nb"},
                        {CellType::kMarkdown, "# T\n\ntext"},
                        {CellType::kRaw, "r"}})),
            "# %%\na = 1\nb\n\n# %% [markdown]\n# # T\n#\n# text\n\n# %% [raw]\n# r\n");
}

TEST(PercentTest, MagicsAreComments) {
  EXPECT_EQ(
      Body(Cells({{CellType::kCode,
                   "%matplotlib inline\n!pip install \\\n  x\nif y:\n    out = !ls\nf?\n# %pwd\n"
                   "# %% no cell\ns = '''\n%not magic\n'''\nx % y"}})),
      "# %%\n# %matplotlib inline\n# !pip install \\\n#   x\nif y:\n    # out = !ls\n# f?\n# # "
      "%pwd\n"
      "# # %% no cell\ns = '''\n%not magic\n'''\nx % y\n");
}

TEST(PercentTest, CellThatEndsInsideAStringIsAComment) {
  EXPECT_EQ(Body(Cells({{CellType::kCode, "s = '''\n%% x"}, {CellType::kCode, "y"}})),
            "# %% cell.commented=true\n# s = '''\n# # %% x\n\n# %%\ny\n");
}

TEST(PercentTest, EverySourceComesBack) {
  std::vector<std::pair<CellType, std::string>> cells;
  for (const char* source : {"",
                             "\n",
                             "\n\n\n",
                             "x",
                             "x\n",
                             "\nx\n\n",
                             "  ",
                             "# %%",
                             "#%%",
                             "  # %% [markdown]",
                             "%% mermaid",
                             "%%time\nx",
                             "%%bash\necho \"it's\"\ncat <<EOF\n",
                             "!ls \\",
                             "!ls \\\n# %% x",
                             "# In[5]:",
                             "a\r\nb\r",
                             "'''",
                             "\"\"\"\n# %% x\n\"\"\"",
                             "# ---\n# jupyter:\n# ---",
                             "\\",
                             "cd ..",
                             "ls = 1",
                             "a, b = %x",
                             "# # # !x",
                             "#!x",
                             "# why?",
                             "x = '# \"\"\"'",
                             "\xed\xa0\x80"}) {
    for (CellType type : {CellType::kCode, CellType::kMarkdown, CellType::kRaw}) {
      cells.emplace_back(type, source);
    }
  }
  const Document document = Cells(cells);
  absl::StatusOr<Document> back = FromPercent(*ToPercent(document));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(RenderText(*back), RenderText(document));
}

TEST(PercentTest, RandomCodeComesBack) {
  const std::vector<std::string> pieces = {"#",  " ",  "%%", "%", "!", "'''", "\"\"\"", "'",   "\"",
                                           "\\", "\n", "x",  "=", "?", "ls",  "In[",    "\n\n"};
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::pair<CellType, std::string>> cells(2);
    for (auto& [type, source] : cells) {
      type = random() % 3 == 0 ? CellType::kMarkdown : CellType::kCode;
      for (int i = random() % 12; i > 0; --i) source += pieces[random() % pieces.size()];
    }
    const Document document = Cells(cells);
    absl::StatusOr<std::string> script = ToPercent(document);
    ASSERT_TRUE(script.ok()) << script.status() << RenderText(document);
    EXPECT_EQ(RenderText(*FromPercent(*script)), RenderText(document));
  }
}

TEST(PercentTest, NothingButOutputsAndCountsIsLost) {
  const std::string notebook = R"({
 "cells": [
  {
   "attachments": {
    "a.png": {}
   },
   "cell_type": "markdown",
   "id": "one",
   "metadata": {
    "id": "colab",
    "tags": [
     "a",
     1E5
    ]
   },
   "source": []
  },
  {
   "cell_type": "code",
   "execution_count": null,
   "id": "two",
   "metadata": {
    "not an option": {}
   },
   "newlines": 3,
   "odd key": "\ud800",
   "outputs": [],
   "source": [
    "x"
   ]
  }
 ],
 "extra": [
  null
 ],
 "metadata": {
  "kernelspec": {
   "name": "python3"
  },
  "odd key": "é"
 },
 "nbformat": 4,
 "nbformat_minor": 5
}
)";
  EXPECT_EQ(FromPercent(*ToPercent(*Document::Parse(notebook)))->bytes(), notebook);
}

TEST(PercentTest, ReadsAScriptThatJupytextWrote) {
  absl::StatusOr<Document> document = FromPercent(
      "#!/usr/bin/env python\n# ---\n# jupyter:\n#   jupytext:\n#     text_representation:\n"
      "#       extension: .py\n#       format_version: '1.3'\n#   kernelspec:\n"
      "#     display_name: Python 3 (ipykernel)\n#     name: python3\n# ---\n\n"
      "import os\n\n# %% [markdown] tags=[\"a\", \"b\"]\n# Hello\n\n# %% A title\n# %time\n\n\ndef "
      "f():\n    pass\n\n\n");
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_EQ(RenderText(*document),
            "# %% [code] cell:0\nimport os\n# %% [markdown] cell:1\nHello\n# %% [code] "
            "cell:2\n%time\n\n\n"
            "def f():\n    pass\n");
  EXPECT_THAT(document->bytes(), HasSubstr("\"display_name\": \"Python 3 (ipykernel)\""));
  EXPECT_THAT(document->bytes(), HasSubstr("\"format_version\": \"1.3\""));
  EXPECT_THAT(document->bytes(), HasSubstr("\"title\": \"A title\""));
}

TEST(PercentTest, EditedScriptPutBackKeepsOutputsOfOtherCells) {
  const Document document = *Document::Parse(
      R"({"cells":[{"cell_type":"code","execution_count":1,"metadata":{},"outputs":[1],"source":["x"]},)"
      R"({"cell_type":"code","execution_count":2,"metadata":{},"outputs":[2],"source":["y"]}],"nbformat":4})");
  std::string script = *ToPercent(document);
  script.replace(script.find("\ny\n"), 3, "\nz\n");
  absl::StatusOr<Applied> applied = ApplyPercent(document, script, {});
  ASSERT_TRUE(applied.ok()) << applied.status();
  EXPECT_EQ(
      applied->document->bytes(),
      R"({"cells":[{"cell_type":"code","execution_count":1,"metadata":{},"outputs":[1],"source":["x"]},)"
      R"({"cell_type":"code","execution_count":null,"metadata":{},"outputs":[],"source":["z"]}],"nbformat":4})");
}

TEST(PercentTest, CellWithAnIdIsFoundAfterAnEdit) {
  const Document document = *Document::Parse(
      R"({"cells":[{"cell_type":"code","id":"k","execution_count":1,"metadata":{"a":1},"outputs":[1],"source":["x"]}],)"
      R"("nbformat":4,"nbformat_minor":5})");
  std::string script = *ToPercent(document);
  script.replace(script.find("\nx\n"), 3, "\nz\n");
  EXPECT_EQ(
      ApplyPercent(document, script, {.keep_outputs = true})->document->bytes(),
      R"({"cells":[{"cell_type":"code","id":"k","execution_count":1,"metadata":{"a":1},"outputs":[1],"source":["z"]}],)"
      R"("nbformat":4,"nbformat_minor":5})");
}

TEST(PercentTest, TimesOfTheLastRunStayInTheNotebook) {
  const Document document = *Document::Parse(
      R"({"cells":[{"cell_type":"code","metadata":{"execution":{"iopub.status.busy":"t"},"a":1},)"
      R"("execution_count":null,"outputs":[],"source":"x"}],)"
      R"("metadata":{},"nbformat":4,"nbformat_minor":4})");
  EXPECT_EQ(Body(document), "# %% a=1\nx\n");
  std::string script = *ToPercent(document);
  EXPECT_FALSE(ApplyPercent(document, script, {})->document);
  script.replace(script.find("a=1"), 3, "a=2");
  const Document edited = *ApplyPercent(document, script, {})->document;
  EXPECT_THAT(edited.bytes(), HasSubstr("\"iopub.status.busy\": \"t\""));
  EXPECT_THAT(edited.bytes(), HasSubstr("\"a\": 2"));
}

TEST(PercentTest, EmptyScriptDoesNotEmptyANotebook) {
  EXPECT_FALSE(ApplyPercent(Cells({{CellType::kCode, "x"}}), "", {}).ok());
}

}  // namespace
}  // namespace cellar::notebook
