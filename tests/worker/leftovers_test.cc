// What is left when a host, a template, a keeper or a worker is killed: nothing.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "host/base/fds.h"
#include "host/base/process.h"
#include "tests/testing/process_stat.h"
#include "tests/testing/scratch_directory.h"
#include "tests/testing/worker_test.h"

namespace cellar::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

// From the kill to the end of the last process.
constexpr absl::Duration kLimit = absl::Milliseconds(500 * kSlowness);

bool Lives(pid_t pid) {
  std::optional<ProcessStat> process = StatOf(pid);
  // A zombie is dead; who does not collect it is its parent's affair.
  return process && process->state != 'Z' && process->state != 'X';
}

template <typename Visit>
void ForEachProcess(Visit visit) {
  for (const auto& entry : fs::directory_iterator("/proc")) {
    pid_t pid = 0;
    if (absl::SimpleAtoi(entry.path().filename().string(), &pid)) visit(pid);
  }
}

// Living processes that were started with this variable in their environment.
std::set<pid_t> MarkedWith(const std::string& mark) {
  std::set<pid_t> found;
  ForEachProcess([&](pid_t pid) {
    std::ifstream file(absl::StrCat("/proc/", pid, "/environ"));
    std::string environment((std::istreambuf_iterator<char>(file)),
                            std::istreambuf_iterator<char>());
    if (environment.find(mark) != std::string::npos && Lives(pid)) found.insert(pid);
  });
  return found;
}

std::set<pid_t> ChildrenOf(pid_t parent) {
  std::set<pid_t> found;
  ForEachProcess([&](pid_t pid) {
    std::optional<ProcessStat> process = StatOf(pid);
    if (process && process->parent == parent) found.insert(pid);
  });
  return found;
}

pid_t TemplateOf(pid_t host) {
  const std::set<pid_t> templates = ChildrenOf(host);
  EXPECT_EQ(templates.size(), 1u);
  return *templates.begin();
}

std::string Describe(const std::set<pid_t>& pids) {
  return absl::StrJoin(pids, " ", [](std::string* out, pid_t pid) {
    std::string name;
    std::getline(std::ifstream(absl::StrCat("/proc/", pid, "/comm")), name);
    absl::StrAppend(out, pid, ":", name);
  });
}

bool AllGone(const std::vector<pid_t>& pids, absl::Duration limit) {
  return Eventually([&] { return std::none_of(pids.begin(), pids.end(), Lives); }, limit);
}

// --- the host is killed -------------------------------------------------------------------------

// A host in a process of its own, with one session for each cell.
class KilledHostTest : public ::testing::Test {
 protected:
  void Start(std::vector<std::string> cells) {
    Pipe pipe = *MakePipe();
    UniqueFd null = *MoveHigh(UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC)));
    absl::StatusOr<ChildProcess> holder =
        Spawn({.program = CELLAR_SESSION_HOLDER,
               .args = std::move(cells),
               .environment = {mark_, "PATH=/usr/bin:/bin", absl::StrCat("HOME=", scratch_.path()),
                               absl::StrCat("CELLAR_WORKER=", getenv("CELLAR_WORKER"))},
               .fds = {{null.get(), 0}, {pipe.write.get(), 1}, {STDERR_FILENO, 2}}});
    ASSERT_TRUE(holder.ok()) << holder.status();
    holder_ = *std::move(holder);
    pipe.write.reset();
    pollfd ready = {pipe.read.get(), POLLIN, 0};
    ASSERT_EQ(poll(&ready, 1, 30'000), 1);
    char text[16];
    ASSERT_GT(read(pipe.read.get(), text, sizeof(text)), 0) << "the host has ended";
  }

  void TearDown() override {
    if (holder_.pid < 0) return;
    SignalPidfd(holder_.pidfd.get(), SIGKILL);
    waitpid(holder_.pid, nullptr, 0);
  }

  // Kills the host; nothing that carries the mark may outlive it for long.
  void ExpectNothingLeft(size_t at_least) {
    // A process that a shell has just started in the background shows its mark a moment later.
    std::set<pid_t> before;
    EXPECT_TRUE(Eventually([&] { return (before = MarkedWith(mark_)).size() >= at_least; }))
        << Describe(before);
    const absl::Time start = absl::Now();
    SignalPidfd(holder_.pidfd.get(), SIGKILL);
    waitpid(holder_.pid, nullptr, 0);
    holder_.pid = -1;
    std::set<pid_t> left;
    Eventually([&] { return (left = MarkedWith(mark_)).empty(); }, kLimit);
    EXPECT_THAT(left, IsEmpty()) << Describe(left);
    RecordProperty("milliseconds",
                   static_cast<int>(absl::ToInt64Milliseconds(absl::Now() - start)));
  }

  ScratchDirectory scratch_;
  const std::string mark_ =
      absl::StrCat("CELLAR_TEST_MARK=", getpid(), "-", absl::ToUnixNanos(absl::Now()));
  ChildProcess holder_;
};

constexpr char kSleeping[] = "import time\nprint('ready\\n', end='')\ntime.sleep(1000)";

TEST_F(KilledHostTest, LeavesNothingOfSessionsThatSleepOrSpin) {
  Start({kSleeping, "print('ready\\n', end='')\nwhile True: pass",
         "import asyncio\nprint('ready\\n', end='')\nawait asyncio.sleep(1000)"});
  ExpectNothingLeft(1 + 1 + 3 * 2);
}

TEST_F(KilledHostTest, LeavesNothingOfCellsInCCode) {
  constexpr char kDeadlock[] =
      "mutex = ctypes.create_string_buffer(64)\nlibc.pthread_mutex_lock(mutex)\nprint('ready\\n', "
      "end='')\n"
      "libc.pthread_mutex_lock(mutex)";
  Start({absl::StrCat("import ctypes\nlibc = ctypes.CDLL(None)\n", kDeadlock),
         absl::StrCat("import ctypes\nlibc = ctypes.PyDLL(None)\n", kDeadlock)});
  ExpectNothingLeft(1 + 1 + 2 * 2);
}

TEST_F(KilledHostTest, LeavesNothingOfCellsThatIgnoreEverySignal) {
  Start(
      {"import signal, time\nfor s in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:\n"
       "  try: signal.signal(s, signal.SIG_IGN)\n  except (OSError, ValueError): pass\n"
       "print('ready\\n', end='')\nwhile True: time.sleep(0.01)"});
  ExpectNothingLeft(1 + 1 + 2);
}

TEST_F(KilledHostTest, LeavesNothingOfStoppedProcesses) {
  Start({"import os, signal\nprint('ready\\n', end='')\nos.kill(os.getpid(), signal.SIGSTOP)",
         "import os, signal, time\nos.kill(os.getppid(), signal.SIGSTOP)\nprint('ready\\n', "
         "end='')\ntime.sleep(1000)"});
  ExpectNothingLeft(1 + 1 + 2 * 2);
}

TEST_F(KilledHostTest, LeavesNothingOfChildrenInSessionsOfTheirOwn) {
  Start(
      {"import subprocess, time\nfor i in range(5): subprocess.Popen(['sleep', '1000'], "
       "start_new_session=True)\n"
       "subprocess.run(['sh', '-c', 'setsid sleep 1000 & exit'])\n"
       "subprocess.run(['sh', '-c', '(setsid sh -c \"sleep 1000 & sleep 1000\" &) & exit'])\n"
       "print('ready\\n', end='')\ntime.sleep(1000)"});
  ExpectNothingLeft(1 + 1 + 2 + 5 + 1);
}

TEST_F(KilledHostTest, LeavesNothingOfAHundredChildren) {
  Start(
      {"import subprocess, time\n"
       "for i in range(100): subprocess.Popen(['sleep', '1000'], start_new_session=i % 2 == 0)\n"
       "print('ready\\n', end='')\ntime.sleep(1000)"});
  ExpectNothingLeft(1 + 1 + 2 + 100);
}

TEST_F(KilledHostTest, LeavesNothingOfChildrenThatKeepForking) {
  Start(
      {"import subprocess, time\n"
       "subprocess.Popen(['sh', '-c', 'while true; do setsid sleep 1000 & sleep 0.02; done'])\n"
       "print('ready\\n', end='')\ntime.sleep(1000)"});
  ExpectNothingLeft(1 + 1 + 2 + 1);
}

TEST_F(KilledHostTest, LeavesNothingOfForkedCopies) {
  Start(
      {"import os, time\nfor i in range(10):\n  if not os.fork():\n    os.setsid()\n    "
       "time.sleep(1000)\n"
       "print('ready\\n', end='')\ntime.sleep(1000)"});
  ExpectNothingLeft(1 + 1 + 2 + 10);
}

TEST_F(KilledHostTest, LeavesNothingOfIdleSessionsAndATemplateThatWasKilledBefore) {
  Start({"print('ready\\n', end='')", kSleeping});
  ASSERT_EQ(kill(TemplateOf(holder_.pid), SIGKILL), 0);
  ExpectNothingLeft(1 + 2 * 2);
}

TEST_F(KilledHostTest, LeavesNothingOfATemplateThatWasStopped) {
  Start({kSleeping});
  ASSERT_EQ(kill(TemplateOf(holder_.pid), SIGSTOP), 0);
  ExpectNothingLeft(1 + 1 + 2);
}

TEST_F(KilledHostTest, LeavesNothingOfAKeeperThatWasStoppedAndWhoseTemplateWasKilled) {
  Start(
      {"import os, signal, time\nos.kill(os.getppid(), signal.SIGSTOP)\n"
       "print('ready\\n', end='')\ntime.sleep(1000)"});
  ASSERT_EQ(kill(TemplateOf(holder_.pid), SIGKILL), 0);
  ExpectNothingLeft(1 + 2);
}

TEST_F(KilledHostTest, LeavesNothingOfAKeeperThatWasStoppedAfterItsTemplateWasKilled) {
  Start({kSleeping});
  const pid_t its_template = TemplateOf(holder_.pid);
  const std::set<pid_t> keepers = ChildrenOf(its_template);
  ASSERT_EQ(keepers.size(), 1u) << Describe(keepers);
  ASSERT_EQ(kill(its_template, SIGKILL), 0);
  ASSERT_TRUE(AllGone({its_template}, kLimit));
  ASSERT_TRUE(Eventually([&] { return StatOf(*keepers.begin())->parent != its_template; }));
  ASSERT_EQ(kill(*keepers.begin(), SIGSTOP), 0);
  ASSERT_TRUE(Eventually([&] { return StatOf(*keepers.begin())->state == 'T'; }));
  ExpectNothingLeft(1 + 2);
}

// --- one of the others is killed ----------------------------------------------------------------

class KilledProcessTest : public WorkerTest {
 protected:
  void SetUp() override {
    WorkerTest::SetUp();
    Run("import os, subprocess, time\nx = 'kept'\n"
        "child = subprocess.Popen(['sleep', '1000'], start_new_session=True).pid");
    worker_ = Number("os.getpid()");
    keeper_ = Number("os.getppid()");
    child_ = Number("child");
    template_ = StatOf(keeper_)->parent;
    ASSERT_EQ(StatOf(template_)->parent, getpid());
  }

  pid_t Number(const std::string& expression) { return std::stoi(Evaluate(expression)); }

  pid_t worker_ = 0, keeper_ = 0, child_ = 0, template_ = 0;
};

TEST_F(KilledProcessTest, AWorkerTakesItsChildrenWithIt) {
  ASSERT_EQ(kill(worker_, SIGKILL), 0);
  EXPECT_TRUE(AllGone({worker_, keeper_, child_}, kLimit));
  CellOutcome next = Run("'x' in globals()");
  EXPECT_THAT(next, ResultIs("False"));
  EXPECT_EQ(next.state, StateAfter::kFresh);
}

TEST_F(KilledProcessTest, AKeeperTakesItsWorkerAndChildrenWithItAndTheCellSaysSo) {
  StartedCell cell(session(), "print('ready\\n', end='')\ntime.sleep(1000)");
  cell.WaitFor("ready");
  ASSERT_EQ(kill(keeper_, SIGKILL), 0);
  CellOutcome outcome = cell.Join();
  EXPECT_THAT(outcome, Fails("WorkerDied"));
  EXPECT_THAT(outcome.death->Describe(), HasSubstr("keeper was killed"));
  EXPECT_EQ(outcome.stdout_text(), "ready\n");
  EXPECT_EQ(outcome.state, StateAfter::kLost);
  EXPECT_TRUE(AllGone({worker_, keeper_, child_}, kLimit));
  EXPECT_THAT(Run("'x' in globals()"), ResultIs("False"));
}

TEST_F(KilledProcessTest, AStoppedKeeperDoesNotKeepACellFromEnding) {
  StartedCell cell(session(),
                   "print('ready\\n', end='')\nwhile True:\n"
                   "  try: time.sleep(1000)\n  except KeyboardInterrupt: pass");
  cell.WaitFor("ready");
  ASSERT_EQ(kill(keeper_, SIGSTOP), 0);
  session().Interrupt();
  session().Interrupt();
  EXPECT_EQ(cell.Join().state, StateAfter::kLost);
  EXPECT_TRUE(AllGone({worker_, child_}, kLimit + absl::Milliseconds(500)));
  EXPECT_THAT(Run("1"), ResultIs("1"));
}

TEST_F(KilledProcessTest, ATemplateLeavesItsSessionsAlive) {
  ASSERT_EQ(kill(template_, SIGKILL), 0);
  EXPECT_THAT(Run("x"), ResultIs("'kept'"));
  auto other = host().Open();
  ASSERT_TRUE(other.ok()) << other.status();
  auto outcome = (*other)->Run("6 * 7");
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(*outcome, ResultIs("42"));
  session().Close();
  EXPECT_TRUE(AllGone({worker_, keeper_, child_}, kLimit));
}

TEST_F(KilledProcessTest, AKilledTemplateIsNoZombie) {
  ASSERT_EQ(kill(template_, SIGKILL), 0);
  EXPECT_TRUE(Eventually([&] { return !StatOf(template_).has_value(); }, kLimit))
      << "not collected by the host";
  EXPECT_THAT(Run("x"), ResultIs("'kept'"));
}

TEST_F(KilledProcessTest, AStoppedTemplateHoldsUpNewSessionsUntilItGoesOnAndNoOthers) {
  ASSERT_EQ(kill(template_, SIGSTOP), 0);
  absl::StatusOr<CellOutcome> outcome = absl::UnknownError("not run");
  std::thread opening([&] {
    auto other = host().Open();
    outcome = other.ok() ? (*other)->Run("6 * 7") : other.status();
  });
  EXPECT_THAT(Run("x"), ResultIs("'kept'")) << "a session does not need it";
  EXPECT_EQ(kill(template_, SIGCONT), 0);
  opening.join();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(*outcome, ResultIs("42"));
}

}  // namespace
}  // namespace cellar::testing
