// Descriptors, processes and files: sessions come and go, and nothing piles up.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>

#include "absl/strings/numbers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/leftovers.h"
#include "tests/testing/scratch_directory.h"
#include "tests/testing/worker_test.h"

namespace cellar::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

namespace fs = std::filesystem;

// Zombies too.
std::set<pid_t> ChildrenOf(pid_t parent) {
  std::set<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    pid_t pid = 0;
    if (!absl::SimpleAtoi(entry.path().filename().string(), &pid)) continue;
    std::string text;
    std::getline(std::ifstream(entry.path() / "stat"), text, '\0');
    // The command name stands in parentheses and may itself contain any character.
    const size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) continue;
    char state = 0;
    pid_t its_parent = 0;
    std::istringstream(text.substr(name_end + 1)) >> state >> its_parent;
    if (its_parent == parent) found.insert(pid);
  }
  return found;
}

class ResourcesTest : public LeavesNothing {
 protected:
  void SetUp() override {
    absl::StatusOr<std::unique_ptr<Host>> host =
        Host::Start({.artifacts_directory = artifacts_ / "made"});
    ASSERT_TRUE(host.ok()) << host.status();
    host_ = *std::move(host);
    RunInOneSession("1");
    ASSERT_THAT(ChildrenOf(getpid()), SizeIs(1));
    template_ = *ChildrenOf(getpid()).begin();
    ASSERT_TRUE(Eventually([&] { return ChildrenOf(template_).empty(); }));
    fds_ = CountOpenFds();
  }

  void TearDown() override {
    host_.reset();
    LeavesNothing::TearDown();
  }

  void RunInOneSession(std::string code, SessionOptions options = {}) {
    auto session = host_->Open(std::move(options));
    ASSERT_TRUE(session.ok()) << session.status();
    ASSERT_TRUE((*session)->Run(std::move(code)).ok());
  }

  void ExpectNothingPiledUp() {
    // A session is closed when its worker is gone; its keeper ends right after. One spare keeper is
    // the template's own.
    EXPECT_TRUE(Eventually([&] { return ChildrenOf(template_).size() <= 1; }))
        << "keepers, or their zombies, are left";
    EXPECT_TRUE(Eventually([&] { return CountOpenFds() == fds_; }))
        << CountOpenFds() << " instead of " << fds_;
    EXPECT_THAT(ChildrenOf(getpid()), SizeIs(1)) << "only the template";
  }

  ScratchDirectory artifacts_;
  std::unique_ptr<Host> host_;
  pid_t template_ = 0;
  std::ptrdiff_t fds_ = 0;
};

TEST_F(ResourcesTest, FiftySessionsLeaveNoDescriptorAndNoProcess) {
  // Every way for a worker to end, and one that is still busy when its session is closed.
  const char* ways[] = {
      "1", "import os\nos._exit(3)", "import subprocess\nsubprocess.Popen(['sleep', '1000'])",
      "import asyncio, time\nasyncio.get_running_loop().call_soon(time.sleep, 0.2)",
      "import ctypes\nctypes.string_at(0)"};
  for (int i = 0; i < 50; ++i) RunInOneSession(ways[i % 5]);
  ExpectNothingPiledUp();
}

TEST_F(ResourcesTest, AHundredDeathsOfOneSessionLeaveNoDescriptorAndNoProcess) {
  {
    auto session = host_->Open();
    ASSERT_TRUE(session.ok()) << session.status();
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE((*session)->Run("import os\nos._exit(3)").ok());
      ASSERT_TRUE((*session)->Run("1").ok());
    }
  }
  ExpectNothingPiledUp();
}

TEST_F(ResourcesTest, SharedMemoryOfAWorkerThatDiedIsRemoved) {
  auto session = host_->Open();
  ASSERT_TRUE(session.ok()) << session.status();
  absl::StatusOr<CellOutcome> outcome = (*session)->Run(
      "import os\nfrom multiprocessing.shared_memory import SharedMemory\n"
      "block = SharedMemory(create=True, size=4096)\nprint(end=block.name)\nos._exit(3)");
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  const fs::path block = fs::path("/dev/shm") / outcome->stdout_text();
  ASSERT_NE(outcome->stdout_text(), "");
  EXPECT_TRUE(Eventually([&] { return !fs::exists(block); })) << block;
}

TEST_F(ResourcesTest, SharedMemoryThatASnapshotMayUseIsRemovedWithTheSession) {
  auto session = host_->Open({.snapshots = SnapshotOptions{.policy = SnapshotPolicy::kAlways}});
  ASSERT_TRUE(session.ok()) << session.status();
  absl::StatusOr<CellOutcome> outcome = (*session)->Run(
      "import os\nfrom multiprocessing.shared_memory import SharedMemory\n"
      "block = SharedMemory(create=True, size=4096)\nprint(end=block.name)");
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  const fs::path block = fs::path("/dev/shm") / outcome->stdout_text();
  ASSERT_NE(outcome->stdout_text(), "");
  outcome = (*session)->Run(
      "other = SharedMemory(create=True, size=4096)\nprint(end=other.name)\nos._exit(3)");
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->state, StateAfter::kRestored);
  const fs::path other = fs::path("/dev/shm") / outcome->stdout_text();
  EXPECT_TRUE(fs::exists(block));
  session->reset();
  EXPECT_TRUE(Eventually([&] { return !fs::exists(block) && !fs::exists(other); })) << block;
}

TEST_F(ResourcesTest, ASessionThatIsNeverUsedLeavesNothing) {
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(host_->Open().ok());
  ExpectNothingPiledUp();
}

TEST_F(ResourcesTest, ASessionLeavesNoFile) {
  ScratchDirectory directory;
  RunInOneSession("print(1)\nimport ctypes\nctypes.string_at(0)", {.cwd = directory.path()});
  RunInOneSession("import json\nprint('x' * 100)", {.cwd = directory.path()});
  EXPECT_TRUE(fs::is_empty(directory.path()));
  EXPECT_FALSE(fs::exists(artifacts_ / "made"))
      << "made only when there is something to put into it";
}

}  // namespace
}  // namespace cellar::testing
