#include "host/base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "host/base/fds.h"

namespace cellar {
namespace {

using ::testing::HasSubstr;

int WaitForExit(const ChildProcess& child) {
  int status = 0;
  EXPECT_EQ(waitpid(child.pid, &status, 0), child.pid);
  return status;
}

// What a shell command prints, run through Spawn.
std::string OutputOf(const std::string& command, std::vector<std::string> environment = {}) {
  Pipe pipe = *MakePipe();
  UniqueFd null = *MoveHigh(UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC)));
  absl::StatusOr<ChildProcess> child =
      Spawn({.program = "/bin/sh",
             .args = {"-c", command},
             .environment = std::move(environment),
             .fds = {{null.get(), 0}, {pipe.write.get(), 1}, {pipe.write.get(), 2}}});
  EXPECT_TRUE(child.ok()) << child.status();
  pipe.write.reset();
  WaitForExit(*child);
  std::string output(4096, '\0');
  ssize_t size = read(pipe.read.get(), output.data(), output.size());
  output.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return output;
}

TEST(SpawnTest, GivesTheChildItsEnvironmentAndNothingElse) {
  EXPECT_EQ(OutputOf("echo \"[$A][$HOME]\"", {"A=1"}), "[1][]\n");
}

TEST(SpawnTest, StartsTheChildInTheDirectoryAskedFor) {
  absl::StatusOr<ChildProcess> child =
      Spawn({.program = "/bin/sh", .args = {"-c", "test $(pwd -P) = /usr/bin"}, .cwd = "/usr/bin"});
  ASSERT_TRUE(child.ok()) << child.status();
  EXPECT_EQ(WaitForExit(*child), 0);
  child = Spawn({.program = "/bin/sh", .cwd = "/no/such"});
  EXPECT_THAT(child.status().message(), HasSubstr("No such file or directory"));
}

TEST(SpawnTest, TheChildsParentIsTheOneThatStartedIt) {
  absl::StatusOr<ChildProcess> child = Spawn({.program = "/bin/sh", .args = {"-c", "exec cat"}});
  ASSERT_TRUE(child.ok()) << child.status();
  EXPECT_EQ(ParentOf(child->pid), getpid());
  WaitForExit(*child);
  EXPECT_EQ(ParentOf(child->pid), 0);
}

TEST(SpawnTest, LeavesNoDescriptorOpenButThoseGiven) {
  int leaked = open("/dev/null", O_RDONLY);  // not close-on-exec
  EXPECT_EQ(OutputOf("ls /proc/self/fd | tr '\\n' ' '", {"PATH=/usr/bin:/bin"}),
            "0 1 2 3 ");  // 3: ls reads the folder
  close(leaked);
}

TEST(SpawnTest, LeaksNeitherBlockedNorIgnoredSignals) {
  signal(SIGTERM, SIG_IGN);
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  sigprocmask(SIG_BLOCK, &blocked, nullptr);
  std::string masks =
      OutputOf("sed -n 's/^Sig\\(Blk\\|Ign\\):\\t/0x/p' /proc/self/status", {"PATH=/usr/bin:/bin"});
  sigprocmask(SIG_UNBLOCK, &blocked, nullptr);
  signal(SIGTERM, SIG_DFL);
  // 32 and 33 belong to the C library, which leaves them as it found them.
  constexpr uint64_t kOfTheLibrary = 3ull << 31;
  std::istringstream lines(masks);
  for (std::string mask; std::getline(lines, mask);) {
    EXPECT_EQ(std::stoull(mask, nullptr, 16) & ~kOfTheLibrary, 0u) << masks;
  }
}

TEST(SpawnTest, StartsTheChildInASessionOfItsOwn) {
  EXPECT_NE(OutputOf("cut -d' ' -f6 /proc/self/stat", {"PATH=/usr/bin:/bin"}),
            std::to_string(getsid(0)) + "\n");
}

TEST(SpawnTest, SaysWhichProgramCouldNotBeStarted) {
  absl::StatusOr<ChildProcess> child = Spawn({.program = "/no/such/program"});
  ASSERT_FALSE(child.ok());
  EXPECT_EQ(child.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(child.status().message()), HasSubstr("/no/such/program"));
}

TEST(PidfdTest, BecomesReadableWhenTheProcessEnds) {
  absl::StatusOr<ChildProcess> child = Spawn({.program = "/bin/sleep", .args = {"100"}});
  ASSERT_TRUE(child.ok()) << child.status();
  EXPECT_TRUE(SignalPidfd(child->pidfd.get(), SIGKILL));
  pollfd ended = {child->pidfd.get(), POLLIN, 0};
  EXPECT_EQ(poll(&ended, 1, 5000), 1);
  EXPECT_TRUE(WIFSIGNALED(WaitForExit(*child)));
  EXPECT_FALSE(SignalPidfd(child->pidfd.get(), SIGKILL)) << "the process is gone";
}

}  // namespace
}  // namespace cellar
