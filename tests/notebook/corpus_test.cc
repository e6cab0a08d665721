// Properties that must hold for every notebook there is, tried on a folder of real ones named by
// the environment variable CELLAR_CORPUS_DIR; without it the tests are skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "notebook/action.h"
#include "notebook/apply.h"
#include "notebook/document.h"
#include "notebook/outputs.h"
#include "notebook/percent.h"
#include "notebook/text_view.h"
#include "tests/notebook/cells.h"

namespace cellar::notebook {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPrefixCutFiles = 50;
constexpr size_t kCutsPerFile = 300;  // of files too large to cut everywhere

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

class CorpusTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("CELLAR_CORPUS_DIR");
    if (folder == nullptr) GTEST_SKIP() << "CELLAR_CORPUS_DIR is not set";
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".ipynb") files_.push_back(entry.path());
    }
    std::sort(files_.begin(), files_.end());
    ASSERT_FALSE(files_.empty());
  }

  // Calls `check` with each file that is a notebook. A file may be refused, but not many of them.
  template <typename Check>
  void ForEachNotebook(Check check) {
    size_t refused = 0;
    for (const fs::path& path : files_) {
      SCOPED_TRACE(path.filename().string());
      absl::StatusOr<Document> document = Document::Parse(ReadFile(path));
      if (document.ok()) {
        check(*document);
      } else {
        ++refused;
      }
    }
    EXPECT_LE(refused, files_.size() / 50);
  }

  std::vector<fs::path> files_;
};

TEST_F(CorpusTest, ShowThenApplyChangesNothing) {
  ForEachNotebook([](const Document& document) {
    for (bool outputs : {false, true}) {
      absl::StatusOr<EditedText> text = EditedText::Parse(RenderText(document, {outputs}));
      ASSERT_TRUE(text.ok()) << text.status();
      absl::StatusOr<Applied> applied = Apply(document, *text, {});
      ASSERT_TRUE(applied.ok()) << applied.status();
      EXPECT_FALSE(applied->document.has_value());
    }
  });
}

TEST_F(CorpusTest, OwnSourcePutBackIsTheIdenticalFile) {
  ForEachNotebook([](const Document& document) {
    const size_t step = 1 + document.cell_count() / 20;
    for (size_t cell = 0; cell < document.cell_count(); cell += step) {
      absl::StatusOr<ActionResult> edited = EditCell(document, cell, document.Source(cell));
      ASSERT_TRUE(edited.ok()) << edited.status();
      EXPECT_TRUE(edited->document.bytes() == document.bytes()) << "cell " << cell;
    }
  });
}

TEST_F(CorpusTest, ReplacedSourceWrittenBackLeavesOnlyThatCellDifferent) {
  ForEachNotebook([](const Document& document) {
    const size_t step = 1 + document.cell_count() / 10;
    for (size_t cell = 0; cell < document.cell_count(); cell += step) {
      const std::string source = "first <b> \"é\"\n" + document.Source(cell) + "\nlast";
      absl::StatusOr<ActionResult> edited = EditCell(document, cell, source);
      ASSERT_TRUE(edited.ok()) << edited.status();
      const Document& result = edited->document;
      EXPECT_EQ(result.Source(cell), source);
      const std::string& before = document.bytes();
      const std::string& after = result.bytes();
      EXPECT_TRUE(before.substr(0, document.span(cell).begin) ==
                  after.substr(0, result.span(cell).begin));
      EXPECT_TRUE(before.substr(document.span(cell).end) == after.substr(result.span(cell).end));
      EXPECT_EQ(MembersExcept(document, cell, {"source", "input", "outputs"}),
                MembersExcept(result, cell, {"source", "input", "outputs"}));
    }
  });
}

TEST_F(CorpusTest, InsertedCellDeletedAgainIsTheIdenticalFile) {
  ForEachNotebook([](const Document& document) {
    if (document.lists().empty()) return;
    const size_t count = document.cell_count();
    for (size_t index : {size_t{0}, count / 2, count}) {
      for (CellType type : {CellType::kCode, CellType::kMarkdown}) {
        absl::StatusOr<ActionResult> inserted = InsertCell(document, index, type, "a\nb");
        ASSERT_TRUE(inserted.ok()) << inserted.status();
        EXPECT_EQ(inserted->document.cell_count(), count + 1);
        absl::StatusOr<ActionResult> deleted = DeleteCell(inserted->document, index);
        ASSERT_TRUE(deleted.ok()) << deleted.status();
        if (count == 0) continue;  // an empty list has lost the whitespace between its brackets
        EXPECT_TRUE(deleted->document.bytes() == document.bytes()) << index;
      }
    }
  });
}

TEST_F(CorpusTest, TypeChangedThereAndBackKeepsEverySource) {
  ForEachNotebook([](const Document& document) {
    if (document.cell_count() == 0) return;
    const std::string source = document.Source(0);
    for (CellType type : {CellType::kRaw, CellType::kCode, CellType::kMarkdown}) {
      absl::StatusOr<ActionResult> changed = EditCell(document, 0, source, {.type = type});
      ASSERT_TRUE(changed.ok()) << changed.status();
      EXPECT_EQ(changed->document.Source(0), source);
      EXPECT_EQ(changed->document.type(0), type);
    }
  });
}

TEST_F(CorpusTest, ReversedCellsReversedAgainKeepEveryCell) {
  ForEachNotebook([](const Document& document) {
    std::string text;
    for (size_t cell = document.cell_count(); cell-- > 0;) text += RenderCell(document, cell);
    absl::StatusOr<EditedText> edited = EditedText::Parse(text);
    ASSERT_TRUE(edited.ok()) << edited.status();
    absl::StatusOr<Applied> applied = Apply(document, *edited, {});
    ASSERT_TRUE(applied.ok()) << applied.status();
    if (document.cell_count() < 2) return;
    const size_t count = document.cell_count();
    for (size_t cell = 0; cell < count; ++cell) {
      EXPECT_TRUE(Slice(document.bytes(), document.span(cell)) ==
                  Slice(applied->document->bytes(), applied->document->span(count - 1 - cell)));
    }
  });
}

TEST_F(CorpusTest, ClearingLeavesNoOutputs) {
  ForEachNotebook([](const Document& document) {
    absl::StatusOr<Document> cleared = ClearOutputs(document);
    ASSERT_TRUE(cleared.ok()) << cleared.status();
    EXPECT_EQ(RenderText(*cleared), RenderText(document));
    EXPECT_EQ(RenderText(*cleared, {.outputs = true}), RenderText(document));
    absl::StatusOr<Document> again = ClearOutputs(*cleared);
    EXPECT_TRUE(again->bytes() == cleared->bytes());
  });
}

TEST_F(CorpusTest, PercentScriptAndBackKeepsEveryCell) {
  ForEachNotebook([](const Document& document) {
    absl::StatusOr<std::string> script = ToPercent(document);
    ASSERT_TRUE(script.ok()) << script.status();
    absl::StatusOr<Document> back = FromPercent(*script);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(RenderText(*back), RenderText(document));
    absl::StatusOr<std::string> again = ToPercent(*back);
    ASSERT_TRUE(again.ok()) << again.status();
    if (document.has_ids()) return;  // missing ones are made
    EXPECT_EQ(*again, *script);
  });
}

TEST_F(CorpusTest, PercentScriptPutBackChangesNothing) {
  ForEachNotebook([](const Document& document) {
    absl::StatusOr<Applied> applied = ApplyPercent(document, *ToPercent(document), {});
    ASSERT_TRUE(applied.ok()) << applied.status();
    EXPECT_FALSE(applied->document.has_value());
  });
}

// Cuts the file at every `step`th byte.
void CheckPrefixes(const fs::path& path, const std::string& bytes, size_t step) {
  const size_t end = bytes.find_last_not_of(" \r\n\t");
  if (end == std::string::npos || !Document::Parse(bytes).ok()) return;
  for (size_t cut = 0; cut < end; cut += step) {
    absl::StatusOr<Document> document = Document::Parse(bytes.substr(0, cut));
    ASSERT_FALSE(document.ok()) << path << " cut at " << cut;
    EXPECT_EQ(document.status().message().substr(0, 5), "line ");
  }
}

TEST_F(CorpusTest, EveryPrefixOfTheSmallerFilesIsRefusedWithAPlace) {
  std::sort(files_.begin(), files_.end(), [](const fs::path& a, const fs::path& b) {
    return fs::file_size(a) < fs::file_size(b);
  });
  for (size_t i = 0; i < std::min(kPrefixCutFiles, files_.size()); ++i) {
    CheckPrefixes(files_[i], ReadFile(files_[i]), 1);
  }
}

TEST_F(CorpusTest, PrefixesAreRefusedWithAPlace) {
  for (size_t i = 0; i < std::min(kPrefixCutFiles, files_.size()); ++i) {
    const fs::path& path = files_[i * files_.size() / kPrefixCutFiles];
    const std::string bytes = ReadFile(path);
    CheckPrefixes(path, bytes, 1 + bytes.size() / kCutsPerFile);
  }
}

}  // namespace
}  // namespace cellar::notebook
