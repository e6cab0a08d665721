#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "absl/functional/function_ref.h"
#include "host/base/atomic_file.h"
#include "notebook/action.h"
#include "notebook/notebook_file.h"
#include "tests/testing/scratch_directory.h"

namespace cellar::notebook {
namespace {

namespace fs = std::filesystem;

class NotebookFileTest : public testing::Test {
 protected:
  // Nothing but what a test made on purpose may be left: no temporary file.
  void TearDown() override {
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      EXPECT_FALSE(entry.path().filename().string().starts_with(".")) << entry.path();
    }
  }

  void Write(const std::string& content) { std::ofstream(path_, std::ios::binary) << content; }

  std::string Read() {
    std::stringstream content;
    content << std::ifstream(path_, std::ios::binary).rdbuf();
    return content.str();
  }

  const ScratchDirectory folder_;
  std::string path_ = folder_ / "a.ipynb";
  const std::string one_cell_ =
      InsertCell(Document::Empty(), 0, CellType::kRaw, "x")->document.bytes();
  const Document changed_ = InsertCell(Document::Empty(), 0, CellType::kRaw, "changed")->document;
};

TEST_F(NotebookFileTest, MissingFileIsStartedOnlyIfAskedTo) {
  EXPECT_TRUE(absl::IsNotFound(NotebookFile::Open(path_).status()));
  absl::StatusOr<NotebookFile> file = NotebookFile::OpenOrStart(path_);
  ASSERT_TRUE(file.ok());
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_TRUE(file->Save(file->document(), false).ok());
  EXPECT_EQ(Read(), Document::Empty().bytes());
}

TEST_F(NotebookFileTest, NothingChangedIsNotWritten) {
  Write(one_cell_);
  struct stat before, after;
  stat(path_.c_str(), &before);
  absl::StatusOr<NotebookFile> file = NotebookFile::Open(path_);
  EXPECT_TRUE(file->Save(file->document(), false).ok());
  stat(path_.c_str(), &after);
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_EQ(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
}

TEST_F(NotebookFileTest, FileChangedOnDiskIsNotOverwrittenUnlessForced) {
  Write(one_cell_);
  absl::StatusOr<NotebookFile> file = NotebookFile::Open(path_);
  Write(one_cell_ + " ");
  EXPECT_TRUE(absl::IsAborted(file->Save(changed_, false)));
  EXPECT_EQ(Read(), one_cell_ + " ");
  EXPECT_TRUE(file->Save(changed_, true).ok());
  EXPECT_EQ(Read(), changed_.bytes());
}

TEST_F(NotebookFileTest, FileThatAppearedMeanwhileIsNotOverwritten) {
  absl::StatusOr<NotebookFile> file = NotebookFile::OpenOrStart(path_);
  Write(one_cell_);
  EXPECT_TRUE(absl::IsAborted(file->Save(changed_, false)));
  EXPECT_EQ(Read(), one_cell_);
}

// Somebody who saves the file when `path_` is about to be replaced or made. What he has written is
// there in the end, whoever is first.
class NotebookFileRaceTest : public NotebookFileTest {
 protected:
  void SaveWhileOurs(const std::string& theirs, absl::FunctionRef<absl::Status()> save) {
    const fs::path beside = folder_ / "theirs";
    std::ofstream(beside, std::ios::binary) << theirs;
    std::atomic<bool> done = false;
    std::thread other([&] {
      while (!done && !HasTemporary()) std::this_thread::yield();
      fs::rename(beside, path_);
    });
    const absl::Status saved = save();
    done = true;
    other.join();
    EXPECT_TRUE(saved.ok() || absl::IsAborted(saved)) << saved;
    EXPECT_EQ(Read(), theirs);
  }

  bool HasTemporary() const {
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      if (entry.path().filename().string().starts_with(".")) return true;
    }
    return false;
  }

  // Takes long enough to be written.
  const Document large_ =
      InsertCell(Document::Empty(), 0, CellType::kRaw, std::string(32 << 20, 'x'))->document;
};

TEST_F(NotebookFileRaceTest, ASaveByAnotherWhileOursIsWrittenIsNotLost) {
  Write(one_cell_);
  const absl::StatusOr<NotebookFile> file = NotebookFile::Open(path_);
  SaveWhileOurs(changed_.bytes(), [&] { return file->Save(large_, false); });
}

TEST_F(NotebookFileRaceTest, AFileMadeByAnotherWhileOursIsWrittenIsNotLost) {
  const absl::StatusOr<NotebookFile> file = NotebookFile::OpenOrStart(path_);
  SaveWhileOurs(changed_.bytes(), [&] { return file->Save(large_, false); });
}

TEST_F(NotebookFileTest, ModeIsKept) {
  Write(one_cell_);
  chmod(path_.c_str(), 0640);
  EXPECT_TRUE(NotebookFile::Open(path_)->Save(changed_, false).ok());
  struct stat status;
  stat(path_.c_str(), &status);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
}

TEST_F(NotebookFileTest, OwnerIsKeptWhenRootWrites) {
  if (geteuid() != 0) GTEST_SKIP() << "only root may give a file away";
  Write(one_cell_);
  ASSERT_EQ(chown(path_.c_str(), 1000, 1001), 0);
  ASSERT_EQ(chmod(path_.c_str(), 0640), 0);
  EXPECT_TRUE(NotebookFile::Open(path_)->Save(changed_, false).ok());
  struct stat status;
  stat(path_.c_str(), &status);
  EXPECT_EQ(status.st_uid, 1000u);
  EXPECT_EQ(status.st_gid, 1001u);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
}

TEST_F(NotebookFileTest, NameOfAnyLengthIsSaved) {
  path_ = (folder_ / (std::string(NAME_MAX - 6, 'n') + ".ipynb")).string();
  EXPECT_TRUE(NotebookFile::OpenOrStart(path_)->Save(Document::Empty(), false).ok());
  EXPECT_TRUE(NotebookFile::Open(path_)->Save(changed_, false).ok());
  EXPECT_EQ(Read(), changed_.bytes());
}

TEST_F(NotebookFileTest, LinkStaysALink) {
  const fs::path target = folder_ / "real.ipynb";
  fs::create_symlink("real.ipynb", path_);
  EXPECT_TRUE(NotebookFile::OpenOrStart(path_)->Save(Document::Empty(), false).ok());
  EXPECT_TRUE(NotebookFile::Open(path_)->Save(changed_, false).ok());
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_FALSE(fs::is_symlink(target));
  EXPECT_EQ(Read(), changed_.bytes());
}

TEST_F(NotebookFileTest, ErrorsNameTheFileAndThePlace) {
  Write("{\n oops");
  EXPECT_EQ(NotebookFile::Open(path_).status().message(),
            path_ + ": line 2, column 2: invalid JSON: expected a string in double quotes");
}

TEST_F(NotebookFileTest, FolderIsRefused) { EXPECT_FALSE(NotebookFile::Open(folder_.path()).ok()); }

TEST_F(NotebookFileTest, WhatCouldNotBeReplacedIsKnownBefore) {
  EXPECT_TRUE(CheckReplaceable(path_).ok());  // made anew
  Write(one_cell_);
  EXPECT_TRUE(CheckReplaceable(path_).ok());
  const std::string link = folder_ / "link";
  fs::create_symlink(folder_.path(), link);
  for (const std::string& path : {folder_.path(), link, path_ + "/b", std::string("/no/such")}) {
    EXPECT_FALSE(CheckReplaceable(path).ok()) << path;
  }
  if (geteuid() == 0) return;  // who may write everything
  ASSERT_EQ(chmod(path_.c_str(), 0444), 0);
  EXPECT_EQ(CheckReplaceable(path_).code(), absl::StatusCode::kPermissionDenied);
}

TEST_F(NotebookFileTest, FileThatMayNotBeWrittenIsNotReplaced) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everything";
  Write(one_cell_);
  chmod(path_.c_str(), 0440);
  EXPECT_TRUE(absl::IsPermissionDenied(NotebookFile::Open(path_)->Save(changed_, false)));
  EXPECT_EQ(Read(), one_cell_);
}

}  // namespace
}  // namespace cellar::notebook
