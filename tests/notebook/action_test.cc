#include "notebook/action.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cellar::notebook {
namespace {

Document TwoCells() {
  return *Document::Parse(
      R"({"cells":[{"cell_type":"code","id":"a","metadata":{},"execution_count":1,"outputs":[{}],"source":["x"]},)"
      R"({"cell_type":"markdown","id":"b","metadata":{},"source":["y"]}],"nbformat":4,"nbformat_minor":5})");
}

TEST(ActionTest, EditTellsWhatItDid) {
  const ActionDetails details = EditCell(TwoCells(), 0, "z\"\n")->details;
  EXPECT_EQ(Summary(details),
            "Edited code cell 0, whose outputs were cleared; the notebook has 2 cells");
  EXPECT_EQ(
      DetailsJson(details),
      R"({"action": "edit", "index": 0, "type": "code", "id": "a", "total": 2, "source": "z\"\n", "outputs_cleared": true})");
}

TEST(ActionTest, DeleteTellsWhatWasThere) {
  const ActionResult result = *DeleteCell(TwoCells(), 1);
  EXPECT_EQ(Summary(result.details), "Deleted markdown cell 1; the notebook has 1 cell");
  EXPECT_EQ(
      DetailsJson(result.details),
      R"({"action": "delete", "index": 1, "type": "markdown", "id": "b", "total": 1, "source": "y"})");
  EXPECT_EQ(result.document.cell_count(), 1u);
}

TEST(ActionTest, InsertGoesFromZeroToCount) {
  for (size_t index : {0, 1, 2}) {
    const ActionResult result = *InsertCell(TwoCells(), index, CellType::kRaw, "new");
    EXPECT_EQ(result.document.Source(index), "new");
    EXPECT_EQ(result.document.cell_count(), 3u);
    EXPECT_EQ(result.details.id, result.document.Id(index));
  }
  EXPECT_EQ(InsertCell(TwoCells(), 3, CellType::kRaw, "new").status().message(),
            "cell 3 is out of range: the notebook has 2 cells");
}

TEST(ActionTest, IndexOutOfRangeIsRefused) {
  EXPECT_TRUE(absl::IsOutOfRange(EditCell(TwoCells(), 2, "x").status()));
  EXPECT_TRUE(absl::IsOutOfRange(DeleteCell(TwoCells(), 2).status()));
}

TEST(ActionTest, FreshIdsAreUniqueAndRepeatable) {
  const Document once = InsertCell(TwoCells(), 0, CellType::kRaw, "new")->document;
  EXPECT_EQ(once.bytes(), InsertCell(TwoCells(), 0, CellType::kRaw, "new")->document.bytes());
  const Document twice = InsertCell(once, 0, CellType::kRaw, "new")->document;
  EXPECT_NE(twice.Id(0), twice.Id(1));
  EXPECT_THAT(*twice.Id(0), testing::MatchesRegex("[0-9a-f]{8}"));
}

TEST(ActionTest, SourceThatIsNotUtf8IsRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(EditCell(TwoCells(), 0, "\xff").status()));
}

TEST(ActionTest, EmptiedNotebookTakesCellsAgain) {
  Document document = TwoCells();
  document = DeleteCell(document, 0)->document;
  document = DeleteCell(document, 0)->document;
  EXPECT_EQ(document.bytes(), R"({"cells":[],"nbformat":4,"nbformat_minor":5})");
  EXPECT_EQ(InsertCell(document, 0, CellType::kCode, "x")->document.cell_count(), 1u);
}

}  // namespace
}  // namespace cellar::notebook
