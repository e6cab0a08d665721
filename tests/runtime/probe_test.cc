#include "host/runtime/probe.h"

#include <dirent.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdio>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "host/base/clock.h"
#include "host/base/unique_fd.h"
#include "tests/runtime/scratch.h"

namespace cellar::host {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

constexpr char kAnswer[] = "printf '\\ncellar-probe\\ncpython\\n3.11.7\\n/x/python\\n/x\\n'\n";

int CountOpenFds() {
  int count = 0;
  DIR* directory = opendir("/proc/self/fd");
  while (readdir(directory) != nullptr) ++count;
  closedir(directory);
  return count;
}

class ProbeTest : public Scratch {
 protected:
  ProbeTest() : fds_before_(CountOpenFds()) {}
  void TearDown() override {
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
    EXPECT_EQ(errno, ECHILD);
    EXPECT_EQ(CountOpenFds(), fds_before_);
  }

  absl::StatusOr<ProbeAnswer> ProbeScript(const std::string& body,
                                          absl::Duration limit = absl::Seconds(30)) {
    return ProbePython({.executable = WriteProgram("python3", "#!/bin/sh\n" + body),
                        .env = {{"PATH", "/usr/bin:/bin"}},
                        .cwd = Path(""),
                        .deadline = MonotonicNow() + limit});
  }

 private:
  int fds_before_;
};

TEST_F(ProbeTest, IsOverWhenNobodyWantsTheAnswer) {
  UniqueFd cancel(eventfd(1, EFD_CLOEXEC));
  const absl::Time start = MonotonicNow();
  absl::StatusOr<ProbeAnswer> answer =
      ProbePython({.executable = WriteProgram("python3", "#!/bin/sh\nsleep 60\n"),
                   .env = {{"PATH", "/usr/bin:/bin"}},
                   .cwd = Path(""),
                   .cancel = cancel.get()});
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kCancelled);
  EXPECT_LT(MonotonicNow() - start, absl::Seconds(10));
}

TEST_F(ProbeTest, ReadsTheAnswer) {
  absl::StatusOr<ProbeAnswer> answer = ProbeScript(kAnswer);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->implementation, "cpython");
  EXPECT_EQ(answer->version, "3.11.7");
  EXPECT_EQ(answer->executable, "/x/python");
  EXPECT_EQ(answer->base_prefix, "/x");
}

TEST_F(ProbeTest, SkipsWhatAShimSaysBefore) {
  EXPECT_TRUE(ProbeScript("echo activating; echo warning >&2\n" + std::string(kAnswer)).ok());
}

TEST_F(ProbeTest, RunsInTheGivenDirectoryWithoutInput) {
  absl::StatusOr<ProbeAnswer> answer =
      ProbeScript("cat\nprintf '\\ncellar-probe\\ncpython\\n3\\n%s\\n/x\\n' \"$(pwd)\"\n");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->executable + "/", Path(""));
}

TEST_F(ProbeTest, ReportsTheFirstWordsOfWhatDoesNotRunAndNotTheAdviceAfterThem) {
  absl::Status status =
      ProbeScript(
          "printf '\\n  python3: command not found\\n\\nIt exists in:\\n  3.9\\n' >&2; exit 127")
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), EndsWith("and wrote: python3: command not found"));
}

TEST_F(ProbeTest, ReportsSilence) {
  EXPECT_THAT(std::string(ProbeScript("exit 0").status().message()), HasSubstr("wrote nothing"));
}

TEST_F(ProbeTest, KillsWhatIsLateWithAllItStarted) {
  absl::Status status =
      ProbeScript("sleep 300 & echo $! > sleeper; wait", absl::Milliseconds(500)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  pid_t sleeper = 0;
  std::ifstream(Path("sleeper")) >> sleeper;
  ASSERT_GT(sleeper, 0);
  // Killed, but perhaps not yet reaped by the init process that inherited it.
  const absl::Time deadline = absl::Now() + absl::Seconds(10);
  std::string state;
  do {
    state.clear();
    std::ifstream stat("/proc/" + std::to_string(sleeper) + "/stat");
    for (int field = 0; field < 3; ++field) stat >> state;
  } while (!state.empty() && state != "Z" && absl::Now() < deadline);
  EXPECT_TRUE(state.empty() || state == "Z") << state;
}

TEST_F(ProbeTest, DoesNotWaitForABackgroundProcessThatHoldsTheOutput) {
  EXPECT_TRUE(ProbeScript("sleep 300 &\n" + std::string(kAnswer)).ok());
}

TEST_F(ProbeTest, DoesNotReadEndlessOutput) {
  EXPECT_EQ(ProbeScript("yes").status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(ProbeTest, IsAnsweredByARealPython) {
  if (!std::filesystem::exists("/usr/bin/python3")) GTEST_SKIP() << "there is no /usr/bin/python3";
  absl::StatusOr<ProbeAnswer> answer =
      ProbePython({.executable = "/usr/bin/python3",
                   .cwd = "/",
                   .deadline = MonotonicNow() + absl::Seconds(30)});
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->implementation, "cpython");
  EXPECT_EQ(answer->version.substr(0, 2), "3.");
  EXPECT_EQ(answer->base_prefix, "/usr");
}

}  // namespace
}  // namespace cellar::host
