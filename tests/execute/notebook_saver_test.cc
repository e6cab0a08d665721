#include "host/execute/notebook_saver.h"

#include <gtest/gtest.h>

#include <climits>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "notebook/action.h"
#include "notebook/document.h"
#include "tests/testing/scratch_directory.h"

namespace cellar::host {
namespace {

namespace fs = std::filesystem;
using notebook::CellType;
using notebook::Document;

class NotebookSaverTest : public testing::Test {
 protected:
  std::string Read() const {
    std::stringstream content;
    content << std::ifstream(path_, std::ios::binary).rdbuf();
    return content.str();
  }

  // A notebook that differs from the one before.
  std::string Next() {
    return notebook::InsertCell(Document::Empty(), 0, CellType::kRaw, std::to_string(++count_))
        ->document.bytes();
  }

  std::unique_ptr<EventLoop> loop_ = *EventLoop::Create();
  const ScratchDirectory folder_;
  std::string path_ = folder_ / "a.ipynb";
  int count_ = 0;
};

TEST_F(NotebookSaverTest, FinishesThoughTheContentChangesWithEverySave) {
  std::unique_ptr<NotebookSaver> saver;
  std::string last;
  saver = std::make_unique<NotebookSaver>(*loop_, SaveTarget{.path = path_}, [&] {
    loop_->Post([&] { saver->SaveSoon(); });
    return last = Next();
  });
  absl::Status saved = absl::UnknownError("not finished");
  saver->SaveSoon();  // under way when it is to finish
  saver->SaveSoon();
  saver->Finish([&](const absl::Status& status) {
    saved = status;
    loop_->Stop();
  });
  loop_->Run();
  EXPECT_TRUE(saved.ok()) << saved;
  EXPECT_GE(count_, 2);
  EXPECT_TRUE(saver->FinishNow().ok());
  EXPECT_EQ(Read(), last);
}

TEST_F(NotebookSaverTest, WhatWasThereWhenItFinishesIsSaved) {
  NotebookSaver saver(*loop_, {.path = path_}, [&] { return Next(); });
  saver.SaveSoon();
  saver.SaveSoon();
  saver.Finish([&](const absl::Status& status) {
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_TRUE(saver.status().ok());
    loop_->Stop();
  });
  loop_->Run();
  EXPECT_EQ(count_, 2);
  count_ = 1;
  EXPECT_EQ(Read(), Next());
}

TEST_F(NotebookSaverTest, WhatGoesBesideAFileWithALongNameHasAShorterOne) {
  std::string name;
  while (name.size() + 2 <= NAME_MAX - 6) name += "ä";
  path_ = (folder_ / (name + ".ipynb")).string();
  const std::string theirs = Next();
  std::ofstream(path_) << theirs;
  const absl::StatusOr<FileStamp> stamp = FileStamp::Of(path_);
  std::ofstream(path_) << theirs << "\n";
  NotebookSaver saver(*loop_, {.path = path_, .expected = *stamp}, [&] { return Next(); });
  saver.SaveSoon();
  EXPECT_TRUE(saver.FinishNow().ok()) << saver.status();
  EXPECT_EQ(Read(), theirs + "\n");
  EXPECT_NE(saver.path(), path_);
  EXPECT_TRUE(saver.path().ends_with("ä.run.ipynb")) << saver.path();
  EXPECT_TRUE(fs::exists(saver.path()));
}

}  // namespace
}  // namespace cellar::host
