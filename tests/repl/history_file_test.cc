#include "host/repl/history_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/scratch_directory.h"

namespace cellar::host {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class HistoryFileTest : public ::testing::Test {
 protected:
  const ScratchDirectory top_;
  const fs::path directory_ = top_ / "state/history";
};

TEST_F(HistoryFileTest, CellsComeBackAsTheyWere) {
  HistoryFile history(directory_, "work");
  EXPECT_THAT(*history.Load(), IsEmpty());
  ASSERT_TRUE(history.Append("x = '\\n\\\\'").ok());
  ASSERT_TRUE(history.Append("for x in y:\n    x").ok());
  EXPECT_THAT(*HistoryFile(directory_, "work").Load(),
              ElementsAre("x = '\\n\\\\'", "for x in y:\n    x"));
}

TEST_F(HistoryFileTest, EverySessionNameHasItsOwn) {
  for (const char* name : {"", "a", "../a", "a/b", "%2e", "."}) {
    ASSERT_TRUE(HistoryFile(directory_, name).Append(std::string("name ") + name).ok());
  }
  for (const char* name : {"", "a", "../a", "a/b", "%2e", "."}) {
    EXPECT_THAT(*HistoryFile(directory_, name).Load(), ElementsAre(std::string("name ") + name));
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()), 6);
  EXPECT_TRUE(HistoryFile(directory_, std::string(5000, '/')).Append("x").ok());
}

TEST_F(HistoryFileTest, IsForTheUserAlone) {
  ASSERT_TRUE(HistoryFile(directory_, "a").Append("secret").ok());
  EXPECT_EQ(fs::status(directory_).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(directory_ / "a").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(HistoryFileTest, ALinkIsNotFollowed) {
  fs::create_directories(directory_);
  std::ofstream(top_ / "elsewhere") << "theirs\n";
  fs::create_symlink(top_ / "elsewhere", directory_ / "a");
  EXPECT_FALSE(HistoryFile(directory_, "a").Load().ok());
  EXPECT_FALSE(HistoryFile(directory_, "a").Append("x").ok());
}

TEST_F(HistoryFileTest, AnOldFileIsShortened) {
  fs::create_directories(directory_);
  {
    std::ofstream file(directory_ / "a");
    for (size_t i = 0; i < 2 * HistoryFile::kMaxCells; ++i) file << "cell " << i << "\n";
  }
  std::vector<std::string> cells = *HistoryFile(directory_, "a").Load();
  EXPECT_EQ(cells.size(), HistoryFile::kMaxCells);
  EXPECT_EQ(cells.back(), "cell 19999");
  std::ifstream file(directory_ / "a");
  std::string first;
  std::getline(file, first);
  EXPECT_EQ(first, "cell 10000");
}

TEST_F(HistoryFileTest, AFileOfManyMegabytesIsReadFromItsEndAndShortened) {
  fs::create_directories(directory_);
  const std::string filler(255u << 10, 'x');
  {
    std::ofstream file(directory_ / "a");
    while (static_cast<size_t>(file.tellp()) <= 2 * HistoryFile::kMaxBytes) {
      file << "first of two\\n" << filler << "\n";
    }
    file << "last\n";
  }
  const HistoryFile history(directory_, "a");
  std::vector<std::string> cells = *history.Load();
  ASSERT_EQ(cells.size(), HistoryFile::kMaxBytes / (filler.size() + 15) + 1);
  EXPECT_EQ(cells.front(), "first of two\n" + filler);
  EXPECT_EQ(cells.back(), "last");
  EXPECT_LE(fs::file_size(directory_ / "a"), HistoryFile::kMaxBytes);
  EXPECT_EQ(*history.Load(), cells);
}

TEST_F(HistoryFileTest, TheDirectoriesAreTheUsersAlone) {
  ASSERT_TRUE(HistoryFile(directory_, "work").Append("x").ok());
  for (const fs::path& made : {directory_, directory_.parent_path()}) {
    EXPECT_EQ(fs::status(made).permissions(), fs::perms::owner_all) << made;
  }
}

TEST_F(HistoryFileTest, NothingIsWrittenWhereAnotherUserReadsIt) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  constexpr uid_t kAnother = 12345;
  const HistoryFile history(directory_, "work");
  ASSERT_TRUE(history.Append("x").ok());
  ASSERT_EQ(chown((directory_ / "work").c_str(), kAnother, kAnother), 0);
  EXPECT_EQ(history.Append("y").code(), absl::StatusCode::kPermissionDenied);
  fs::remove(directory_ / "work");
  ASSERT_EQ(chown(directory_.c_str(), kAnother, kAnother), 0);
  EXPECT_EQ(history.Append("y").code(), absl::StatusCode::kPermissionDenied);
  EXPECT_FALSE(fs::exists(directory_ / "work"));
}

}  // namespace
}  // namespace cellar::host
