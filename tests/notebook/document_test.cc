#include "notebook/document.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "notebook/text_view.h"

namespace cellar::notebook {
namespace {

std::string ErrorOf(std::string bytes) {
  absl::StatusOr<Document> document = Document::Parse(std::move(bytes));
  return document.ok() ? "" : std::string(document.status().message());
}

Document Parsed(std::string bytes) {
  absl::StatusOr<Document> document = Document::Parse(std::move(bytes));
  EXPECT_TRUE(document.ok()) << document.status();
  return document.ok() ? *std::move(document) : Document::Empty();
}

TEST(DocumentTest, ReadsSourcesThatAreListsAndStrings) {
  const Document document =
      Parsed(R"({"cells": [{"cell_type": "code", "source": ["a\n", "b"]},)"
             R"( {"cell_type": "markdown", "source": "# x\n"}, {"cell_type": "raw"}]})");
  ASSERT_EQ(document.cell_count(), 3u);
  EXPECT_EQ(document.Source(0), "a\nb");
  EXPECT_EQ(document.Source(1), "# x\n");
  EXPECT_EQ(document.Source(2), "");
  EXPECT_EQ(document.type(2), CellType::kRaw);
}

TEST(DocumentTest, JoinsPiecesWithNothingBetween) {
  EXPECT_EQ(
      Parsed(R"({"cells":[{"cell_type":"code","source":["a","b","","\f\r","c"]}]})").Source(0),
      "ab\f\rc");
}

TEST(DocumentTest, ReadsWorksheets) {
  const Document document =
      Parsed(R"({"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code", "input": "1"},)"
             R"( {"cell_type": "heading", "level": 2, "source": ["T"]}]}, {"metadata": {}},)"
             R"( {"cells": [{"cell_type": "markdown", "source": ["a", "b"]}]}]})");
  ASSERT_EQ(document.cell_count(), 3u);
  EXPECT_EQ(document.Source(0), "1");
  EXPECT_EQ(document.type(1), CellType::kMarkdown);
  EXPECT_EQ(document.Source(2), "a\nb");  // lines without their ends, as nbformat 2 wrote them
  EXPECT_EQ(document.lists().size(), 2u);
}

TEST(DocumentTest, LastOfDuplicateKeysCounts) {
  const Document document = Parsed(
      R"({"cells": [], "cells": [{"cell_type": "raw", "cell_type": "code", "source": "a", "source": "b"}]})");
  ASSERT_EQ(document.cell_count(), 1u);
  EXPECT_EQ(document.type(0), CellType::kCode);
  EXPECT_EQ(document.Source(0), "b");
}

TEST(DocumentTest, AcceptsByteOrderMarkNanAndHugeNumbers) {
  const std::string bytes =
      "\xef\xbb\xbf{\"cells\": [], \"metadata\": {\"a\": NaN, \"b\": -Infinity, \"c\": "
      "123456789012345678901234567890, \"d\": 1e400}}\r\n";
  EXPECT_EQ(Parsed(bytes).bytes(), bytes);
}

TEST(DocumentTest, SaysWhereTheJsonIsInvalid) {
  EXPECT_EQ(ErrorOf("{\n \"cells\": [\n  {\"cell_type\": \"code\",}\n ]\n}"),
            "line 3, column 24, in cells[0]: invalid JSON: expected a string in double quotes");
  EXPECT_EQ(ErrorOf("{\"cells\": []"),
            "line 1, column 13: invalid JSON: expected ',' or '}', found the end of the file");
  EXPECT_EQ(ErrorOf("{\n \"cells\": [\n<<<<<<< HEAD\n"),
            "line 3, column 1, in cells[0]: invalid JSON: expected a value, found the marker of an "
            "unresolved merge conflict");
  EXPECT_EQ(ErrorOf("{\"cells\": []} x"), "line 1, column 15: invalid JSON: expected nothing more");
}

TEST(DocumentTest, SaysWhatIsNotANotebook) {
  EXPECT_EQ(ErrorOf(" \n"), "line 2, column 1: not a notebook: the file is empty");
  EXPECT_EQ(ErrorOf("[]"), "line 1, column 1: not a notebook: the top is not an object");
  EXPECT_EQ(ErrorOf("{\"a\": 1}"), "not a notebook: the object at the top has no \"cells\"");
  EXPECT_EQ(ErrorOf("{\"cells\": {}}"), "line 1, column 11, in cells: cells is not a list");
  EXPECT_EQ(ErrorOf("{\"cells\": [], \"nbformat\": 5}"),
            "nbformat 5 is newer than the newest format known, 4");
}

TEST(DocumentTest, SaysWhichCellIsBad) {
  EXPECT_EQ(ErrorOf("{\"cells\": [3]}"), "line 1, column 12, in cells[0]: bad cell: not an object");
  EXPECT_EQ(ErrorOf("{\"cells\": [{}]}"),
            "line 1, column 12, in cells[0]: bad cell: it has no cell_type");
  EXPECT_EQ(ErrorOf("{\"cells\": [{\"cell_type\": \"prose\"}]}"),
            "line 1, column 26, in cells[0].cell_type: bad cell type \"prose\": not code, markdown "
            "or raw");
  EXPECT_EQ(
      ErrorOf("{\"cells\": [{\"cell_type\": \"raw\", \"source\": [1]}]}"),
      "line 1, column 44, in cells[0].source[0]: bad cell: the source is neither a string nor a "
      "list of strings");
}

TEST(DocumentTest, FindsCellsByIndexAndId) {
  const Document document =
      Parsed(R"({"cells": [{"cell_type": "raw", "id": "x"}, {"cell_type": "raw", "id": "7"},)"
             R"( {"cell_type": "raw", "id": "d"}, {"cell_type": "raw", "id": "d"}]})");
  EXPECT_EQ(*document.Find({"1"}), 1u);
  EXPECT_EQ(*document.Find({"x"}), 0u);
  EXPECT_EQ(*document.Find({"7"}), 1u);
  EXPECT_EQ(document.Find({"4"}).status().message(),
            "cell 4 is out of range: the notebook has 4 cells");
  EXPECT_EQ(document.Find({"-1"}).status().message(), "no cell has the id -1 (of 4 cells)");
  EXPECT_EQ(document.Find({"d"}).status().message(),
            "cell id d is not unique: cells 2 and 3 have it");
}

TEST(DocumentTest, AnIdOfDigitsIsNotTakenForTheIndexOfAnotherCell) {
  const Document document =
      Parsed(R"({"cells": [{"cell_type": "raw", "id": "1"}, {"cell_type": "raw", "id": "00"}]})");
  EXPECT_EQ(*document.Find({"00"}), 1u);
  EXPECT_EQ(document.Find({"01"}).status().message(), "no cell has the id 01 (of 2 cells)");
  EXPECT_EQ(*document.Find({"1"}), 1u);
  EXPECT_EQ(*document.Find({"1", /*id_first=*/true}), 0u);
  EXPECT_EQ(*document.Find({"0", /*id_first=*/true}), 0u);
}

TEST(DocumentTest, SaysThatThereIsOneCell) {
  const Document document = Parsed(R"({"cells": [{"cell_type": "raw"}]})");
  EXPECT_EQ(document.Find({"1"}).status().message(),
            "cell 1 is out of range: the notebook has 1 cell");
}

std::string NotebookOf(const std::vector<std::string>& cells) {
  std::string text = "{\"cells\": [";
  for (const std::string& cell : cells) text += (text.back() == '[' ? "" : ",\n ") + cell;
  return text + "], \"nbformat\": 4}";
}

// Whatever has happened to a notebook, knowing what it was before changes nothing but the time.
TEST(DocumentTest, ReadsTheSameWhetherOrNotItKnowsWhatWasBefore) {
  const std::vector<std::string> kinds = {
      R"({"cell_type": "code", "source": ["a\n", "b"]})", R"({"cell_type": "code", "source": "a"})",
      R"({"source": [], "cell_type": "markdown"})", R"({"cell_type": "raw"})"};
  std::minstd_rand random(1);
  auto any = [&](size_t count) { return random() % count; };
  std::vector<std::string> cells(8, kinds[0]);
  for (int round = 0; round < 500; ++round) {
    const Document before = Parsed(NotebookOf(cells));
    for (size_t changes = any(4); changes > 0; --changes) {
      const auto place = cells.begin() + static_cast<std::ptrdiff_t>(any(cells.size()));
      const size_t what = any(3);
      if (what == 0 || cells.size() < 3) {
        cells.insert(place, kinds[any(kinds.size())]);
      } else if (what == 1) {
        *place = kinds[any(kinds.size())];
      } else {
        cells.erase(place);
      }
    }
    const std::string bytes = NotebookOf(cells);
    const Document alone = Parsed(bytes);
    const absl::StatusOr<Document> after = Document::Parse(bytes, &before);
    ASSERT_TRUE(after.ok()) << after.status();
    ASSERT_EQ(after->cell_count(), alone.cell_count()) << bytes;
    for (size_t i = 0; i < alone.cell_count(); ++i) {
      EXPECT_EQ(after->Source(i), alone.Source(i)) << bytes;
      EXPECT_EQ(after->type(i), alone.type(i)) << bytes;
      EXPECT_EQ(after->span(i).begin, alone.span(i).begin) << bytes;
      EXPECT_EQ(after->span(i).end, alone.span(i).end) << bytes;
    }
  }
}

TEST(DocumentTest, EmptyNotebookIsFormat45) {
  EXPECT_TRUE(Document::Empty().has_ids());
  EXPECT_EQ(Document::Empty().cell_count(), 0u);
}

}  // namespace
}  // namespace cellar::notebook
