#include "host/output/artifacts.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "host/output/artifact_janitor.h"
#include "tests/testing/files.h"
#include "tests/testing/scratch_directory.h"

namespace cellar::host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

mode_t ModeOf(const std::string& path) {
  struct stat info;
  return lstat(path.c_str(), &info) < 0 ? 0 : info.st_mode & 07777;
}

class ArtifactStoreTest : public testing::Test {
 protected:
  std::string Save(std::string_view content) {
    absl::StatusOr<NewArtifact> artifact = store_.Create("log");
    EXPECT_TRUE(artifact.ok()) << artifact.status();
    EXPECT_EQ(write(artifact->fd.get(), content.data(), content.size()),
              static_cast<ssize_t>(content.size()));
    return artifact->id;
  }

  void SetAge(const std::string& id, std::chrono::hours age) {
    std::filesystem::last_write_time(directory_ + "/" + id,
                                     std::filesystem::file_time_type::clock::now() - age);
  }

  ScratchDirectory temp_;
  const std::string directory_ = temp_ / "state/artifacts";
  const ArtifactStore store_{directory_};
};

TEST_F(ArtifactStoreTest, TouchesNothingBeforeTheFirstArtifact) {
  EXPECT_TRUE(store_.CleanUp({}).ok());
  EXPECT_FALSE(store_.Remove("cellar-000000000000.log").ok());
  EXPECT_THAT(FilesIn(temp_.path()), IsEmpty());
}

TEST_F(ArtifactStoreTest, MakesPrivateFilesInPrivateDirectories) {
  const mode_t before = umask(0);
  const std::string id = Save("x");
  umask(before);
  EXPECT_EQ(ModeOf(temp_ / "state"), 0700u);
  EXPECT_EQ(ModeOf(directory_), 0700u);
  EXPECT_EQ(ModeOf(directory_ + "/" + id), 0600u);
}

TEST_F(ArtifactStoreTest, RefusesWhatIsNotAnId) {
  Save("x");
  for (const char* bad :
       {"", "artifact://", "../../etc/passwd", "artifact://../x", "cellar-.log", "x.log",
        "cellar-00000000000/.log", "cellar-000000000000.", "cellar-000000000000./x",
        "cellar-000000000000.LOG", "cellar-000000000000", "/etc/passwd"}) {
    EXPECT_EQ(store_.Remove(bad).code(), absl::StatusCode::kInvalidArgument) << bad;
  }
  EXPECT_EQ(store_.Create("../x").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ArtifactStoreTest, RefusesADirectoryThatIsALink) {
  std::filesystem::create_directories(temp_ / "elsewhere");
  std::filesystem::create_directories(temp_ / "state");
  std::filesystem::create_directory_symlink(temp_ / "elsewhere", directory_);
  for (const std::string& path : {directory_, directory_ + "/", directory_ + "/."}) {
    const absl::Status status = ArtifactStore(path).Create("log").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << path;
    EXPECT_THAT(std::string(status.message()), HasSubstr("symbolic link"));
  }
  EXPECT_THAT(FilesIn(temp_ / "elsewhere"), IsEmpty());
}

TEST_F(ArtifactStoreTest, RefusesADirectoryThatOthersCanChange) {
  std::filesystem::create_directories(directory_);
  chmod(directory_.c_str(), 0777);
  EXPECT_EQ(store_.Create("log").status().code(), absl::StatusCode::kPermissionDenied);
  chmod(directory_.c_str(), 0700);
  if (geteuid() == 0) {
    ASSERT_EQ(chown(directory_.c_str(), 65534, 65534), 0);
    EXPECT_EQ(store_.Create("log").status().code(), absl::StatusCode::kPermissionDenied);
  }
}

TEST_F(ArtifactStoreTest, LeavesTheModeOfAGivenDirectoryAlone) {
  std::filesystem::create_directories(directory_);
  chmod(directory_.c_str(), 0755);
  Save("x");
  EXPECT_EQ(ModeOf(directory_), 0755u);
}

TEST_F(ArtifactStoreTest, DoesNotFollowALinkInPlaceOfAnArtifact) {
  const std::string id = Save("x");
  const std::string path = directory_ + "/" + id;
  std::filesystem::remove(path);
  std::filesystem::create_symlink("/etc/passwd", path);
  EXPECT_TRUE(store_.CleanUp({.max_age = absl::ZeroDuration(), .max_total_bytes = 0}).ok());
  EXPECT_TRUE(std::filesystem::exists("/etc/passwd"));
}

TEST_F(ArtifactStoreTest, MakesTheDirectoryAgainWhenItHasVanished) {
  Save("first");
  std::filesystem::remove_all(temp_ / "state");
  EXPECT_EQ(ReadFile(directory_ + "/" + Save("second")), "second");
}

TEST_F(ArtifactStoreTest, SaysWhichDirectoryCannotBeMade) {
  const ArtifactStore store("/proc/no/such");
  EXPECT_THAT(std::string(store.Create("log").status().message()), HasSubstr("/proc/no"));
}

TEST_F(ArtifactStoreTest, MakesARelativePathAbsolute) {
  EXPECT_EQ(ArtifactStore("some/dir/").directory(),
            (std::filesystem::current_path() / "some/dir").string());
}

TEST_F(ArtifactStoreTest, CleansUpByAge) {
  const std::string old_one = Save("12345");
  const std::string new_one = Save("123");
  SetAge(old_one, std::chrono::hours(25));
  EXPECT_EQ(*store_.CleanUp({.max_age = absl::Hours(24)}), 3u);
  EXPECT_THAT(FilesIn(directory_), ElementsAre(new_one));
}

TEST_F(ArtifactStoreTest, CleansUpTheOldestByTotalSize) {
  const std::string middle = Save("12345");
  const std::string oldest = Save("12345");
  const std::string newest = Save("12345");
  SetAge(oldest, std::chrono::hours(3));
  SetAge(middle, std::chrono::hours(2));
  EXPECT_EQ(*store_.CleanUp({.max_total_bytes = 14}), 10u);
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/" + oldest));
  EXPECT_EQ(*store_.CleanUp({.max_total_bytes = 5}), 5u);
  EXPECT_THAT(FilesIn(directory_), ElementsAre(newest));
}

TEST_F(ArtifactStoreTest, CleanUpSparesFilesInUseAndFilesOfOthers) {
  const NewArtifact in_use = *store_.Create("log");
  SetAge(in_use.id, std::chrono::hours(1000));
  std::ofstream(directory_ + "/notes.md") << "mine";
  std::ofstream(directory_ + "/cellar-notes.log") << "mine";
  const ArtifactStore other_host(directory_);
  EXPECT_TRUE(other_host.CleanUp({.max_age = absl::ZeroDuration(), .max_total_bytes = 0}).ok());
  EXPECT_EQ(FilesIn(directory_).size(), 3u);
}

TEST_F(ArtifactStoreTest, AJanitorCleansUpHoweverShortItLives) {
  SetAge(Save("old"), std::chrono::hours(25));
  const std::string new_one = Save("new");
  absl::StatusOr<std::unique_ptr<EventLoop>> loop = EventLoop::Create();
  ASSERT_TRUE(loop.ok()) << loop.status();
  { ArtifactJanitor janitor(**loop, directory_, {.max_age = absl::Hours(24)}); }
  EXPECT_THAT(FilesIn(directory_), ElementsAre(new_one));
}

TEST_F(ArtifactStoreTest, ManyHostsShareADirectory) {
  std::vector<std::vector<std::string>> ids(4);
  std::vector<std::thread> hosts;
  for (std::vector<std::string>& own : ids) {
    hosts.emplace_back([this, &own] {
      const ArtifactStore store(directory_);
      for (int i = 0; i < 50; ++i) {
        own.push_back(store.Create("log")->id);
        EXPECT_TRUE(store.CleanUp({}).ok());
      }
    });
  }
  for (std::thread& host : hosts) host.join();
  std::set<std::string> all;
  for (const std::vector<std::string>& own : ids) all.insert(own.begin(), own.end());
  EXPECT_EQ(all.size(), 200u);
  EXPECT_EQ(FilesIn(directory_).size(), 200u);
}

}  // namespace
}  // namespace cellar::host
