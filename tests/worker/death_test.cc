// Workers that die: what the outcome says of it, and how the session goes on.
#include <signal.h>

#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "host/wire/keeper_messages.h"
#include "tests/testing/scratch_directory.h"
#include "tests/testing/worker_test.h"

namespace cellar::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;

class DeathTest : public WorkerTest {
 protected:
  void SetUp() override {
    WorkerTest::SetUp();
    Run("x = 'kept'");
  }

  // Of a cell that was the second one of its worker.
  void ExpectDeath(const CellOutcome& outcome, const std::string& how) {
    EXPECT_EQ(outcome.status, CellStatus::kError) << how;
    EXPECT_EQ(outcome.state, StateAfter::kLost) << how;
    EXPECT_THAT(outcome.state_detail, AllOf(HasSubstr(how), HasSubstr("state lost")));
    EXPECT_THAT(outcome, Fails("WorkerDied")) << how;
    ASSERT_TRUE(outcome.death.has_value()) << how;
    EXPECT_THAT(outcome.death->Describe(), HasSubstr(how));
  }

  void ExpectFreshSession() {
    const absl::Time start = absl::Now();
    CellOutcome next = Run("'x' in globals()");
    // The bar is 10 ms; the rest is for a busy machine.
    EXPECT_LT(absl::Now() - start, kSlowness * absl::Seconds(1));
    EXPECT_THAT(next, ResultIs("False"));
    EXPECT_EQ(next.execution_count, 1u);
    EXPECT_EQ(next.state, StateAfter::kFresh);
    EXPECT_THAT(next.state_detail, HasSubstr("fresh session"));
    CellOutcome later = Run("1");
    EXPECT_EQ(later.state, StateAfter::kKept) << "said once";
    EXPECT_EQ(later.state_detail, "");
  }
};

TEST_F(DeathTest, ACellThatKillsItsKeeperBeforeThatOneHasSpokenRunsOnce) {
  ScratchDirectory scratch;
  for (int i = 0; i < 40; ++i) {
    const std::string path = absl::StrCat(scratch.path(), "/", i);
    auto session = host().Open();
    ASSERT_TRUE(session.ok()) << session.status();
    auto outcome = (*session)->Run(absl::StrCat(
        "with open('", path, "', 'a') as f: f.write('x')\n",
        "import os, signal, time\nos.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(60)"));
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_THAT(*outcome, Fails("WorkerDied"));
    std::string ran;
    std::getline(std::ifstream(path), ran);
    EXPECT_EQ(ran, "x");
  }
}

TEST_F(DeathTest, TheStackOfAnEarlierCellIsNotThatOfTheDeath) {
  // It resists until its stack has been dumped, and then ends by itself.
  CellOutcome resisted = Run(R"(
import time
def resist():
    end = time.monotonic() + 2.5
    while time.monotonic() < end:
        try: time.sleep(0.1)
        except KeyboardInterrupt: pass
resist()
)",
                             {.timeout = absl::Milliseconds(100)});
  ASSERT_EQ(resisted.state, StateAfter::kKept) << resisted.state_detail;
  CellOutcome outcome = Run("import ctypes\nctypes.string_at(0)");
  ExpectDeath(outcome, "died of SIGSEGV");
  EXPECT_THAT(
      outcome.death->python_stack,
      AllOf(HasSubstr("File \"<cell 3>\", line 2 in <module>\n"), Not(HasSubstr("resist"))));
}

TEST_F(DeathTest, TheStackOfAForkedChildIsNotThatOfTheDeath) {
  CellOutcome forked =
      Run("import ctypes, os\ndef crash(): ctypes.string_at(0)\npid = os.fork()\n"
          "if not pid: crash()\nos.waitpid(pid, 0)[1]");
  EXPECT_THAT(forked, ResultIs("11"));
  EXPECT_THAT(forked.stderr_text(), HasSubstr("File \"<cell 2>\", line 2 in crash\n"));
  CellOutcome outcome = Run("os._exit(3)");
  ExpectDeath(outcome, "exited with code 3");
  EXPECT_EQ(outcome.death->python_stack, "");
}

TEST_F(DeathTest, ASegmentationFaultNamesTheSignalAndThePythonStack) {
  CellOutcome outcome =
      Run("import ctypes\ndef crash():\n    ctypes.string_at(0)\nprint('last words')\ncrash()");
  ExpectDeath(outcome, "died of SIGSEGV");
  EXPECT_THAT(outcome.death->signal, Optional(SIGSEGV));
  EXPECT_THAT(outcome.death->python_stack,
              AllOf(HasSubstr("File \"<cell 2>\", line 3 in crash\n"),
                    HasSubstr("File \"<cell 2>\", line 5 in <module>\n"),
                    Not(HasSubstr("cellar_runtime"))));
  EXPECT_EQ(outcome.error->traceback, outcome.death->python_stack);
  EXPECT_EQ(outcome.stdout_text(), "last words\n");
  ExpectFreshSession();
}

TEST_F(DeathTest, AnAbortNamesTheSignalAndThePythonStack) {
  CellOutcome outcome = Run("import os\nprint('last words')\nos.abort()");
  ExpectDeath(outcome, "died of SIGABRT");
  EXPECT_THAT(outcome.death->python_stack, HasSubstr("File \"<cell 2>\", line 3 in <module>\n"));
  EXPECT_EQ(outcome.stdout_text(), "last words\n");
  ExpectFreshSession();
}

TEST_F(DeathTest, ACrashInAThreadShowsThatThread) {
  CellOutcome outcome =
      Run("import ctypes, threading\ndef crash(): ctypes.string_at(0)\n"
          "t = threading.Thread(target=crash)\nt.start()\nt.join()");
  ExpectDeath(outcome, "died of SIGSEGV");
  EXPECT_THAT(outcome.death->python_stack, HasSubstr("File \"<cell 2>\", line 2 in crash\n"));
  ExpectFreshSession();
}

TEST_F(DeathTest, AnOverflowOfTheCStackShowsThePythonStack) {
  CellOutcome outcome =
      Run("import sys\nsys.setrecursionlimit(10 ** 8)\n"
          "class A:\n    def __getattr__(self, name): return getattr(self, name)\nA().x",
          {.timeout = absl::ZeroDuration()});
  ExpectDeath(outcome, "died of SIGSEGV");
  EXPECT_THAT(outcome.death->python_stack, HasSubstr("File \"<cell 2>\", line 4 in __getattr__\n"));
  ExpectFreshSession();
}

TEST_F(DeathTest, AnExitNamesTheCode) {
  CellOutcome outcome =
      Run("import os, sys\nprint('last words')\nprint('and errors', file=sys.stderr)\nos._exit(3)");
  ExpectDeath(outcome, "exited with code 3");
  EXPECT_THAT(outcome.death->exit_code, Optional(3));
  EXPECT_EQ(outcome.death->signal, std::nullopt);
  EXPECT_EQ(outcome.stdout_text(), "last words\n");
  EXPECT_EQ(outcome.stderr_text(), "and errors\n");
  ExpectFreshSession();
}

TEST_F(DeathTest, AWorkerKilledFromOutsideDuringACellIsNoticed) {
  const int worker = std::stoi(Evaluate("import os, time\nos.getpid()"));
  StartedCell cell(session(), "print('ready\\n', end='')\ntime.sleep(100)");
  cell.WaitFor("ready");
  const absl::Time start = absl::Now();
  ASSERT_EQ(kill(worker, SIGKILL), 0);
  CellOutcome outcome = cell.Join();
  // The bar is 5 ms; the rest is for a busy machine.
  EXPECT_LT(absl::Now() - start, kSlowness * absl::Milliseconds(500));
  ExpectDeath(outcome, "died of SIGKILL");
  EXPECT_EQ(outcome.stdout_text(), "ready\n");
  ExpectFreshSession();
}

TEST_F(DeathTest, AWorkerKilledBetweenCellsIsReplacedForTheNext) {
  const int worker = std::stoi(Evaluate("import os\nos.getpid()"));
  const int keeper = std::stoi(Evaluate("os.getppid()"));
  ASSERT_EQ(kill(worker, SIGKILL), 0);
  // It reports before it ends.
  ASSERT_TRUE(Eventually([&] { return kill(keeper, 0) != 0; }));
  ExpectFreshSession();
}

TEST_F(DeathTest, ASignalThatEndsTheProcessIsNamed) {
  CellOutcome outcome = Run("import os, signal\nos.killpg(0, signal.SIGTERM)\nsignal.pause()");
  ExpectDeath(outcome, "died of SIGTERM");
  ExpectFreshSession();
  Run("x = 1");
  outcome =
      Run("import resource\nresource.setrlimit(resource.RLIMIT_CPU, (1, 1))\nwhile True: pass");
  EXPECT_THAT(outcome, Fails("WorkerDied"));
}

TEST_F(DeathTest, ACrashLeavesNoCoreFile) {
  EXPECT_THAT(Run("import resource\nresource.getrlimit(resource.RLIMIT_CORE)"), ResultIs("(0, 0)"));
}

TEST_F(DeathTest, AWorkerGoesBeforeItsHostWhenMemoryRunsOut) {
  std::string own;
  std::ifstream("/proc/self/oom_score_adj") >> own;
  EXPECT_GT(std::stoi(Evaluate("int(open('/proc/self/oom_score_adj').read())")), std::stoi(own));
}

TEST_F(DeathTest, AClosedChannelIsTheWorkersEnd) {
  ExpectDeath(Run("import os\nprint('before')\nos.closerange(3, 2000)\n5"), "");
  ExpectFreshSession();
}

TEST_F(DeathTest, ClosingTheLowDescriptorsDoesNoHarm) {
  CellOutcome outcome = Run("import os\nos.closerange(3, 256)\n5");
  EXPECT_THAT(outcome, ResultIs("5"));
  EXPECT_THAT(Run("x"), ResultIs("'kept'"));
  EXPECT_THAT(Run("import asyncio\nawait asyncio.sleep(0.01, x)"), ResultIs("'kept'"));
  EXPECT_THAT(Run("await asyncio.to_thread(abs, -1)"), ResultIs("1"));
  EXPECT_THAT(Run("x").background, ::testing::IsEmpty());
}

TEST_F(DeathTest, GarbageOnEverySocketIsTheWorkersEnd) {
  CellOutcome outcome = Run(R"(
import os, time
print('before')
for name in os.listdir('/proc/self/fd'):
    try:
        if 'socket' in os.readlink('/proc/self/fd/' + name): os.write(int(name), b'\xff' * 4096)
    except OSError: pass
time.sleep(30)
)");
  ExpectDeath(outcome, "died of SIGKILL");
  EXPECT_FALSE(outcome.death->reason.empty());
  EXPECT_EQ(outcome.stdout_text(), "before\n");
  ExpectFreshSession();
}

TEST_F(DeathTest, GarbageInTheRingIsTheWorkersEnd) {
  CellOutcome outcome = Run(R"(
import ctypes
for line in open('/proc/self/maps'):
    if 'cellar-ring' in line:
        start, end = (int(part, 16) for part in line.split()[0].split('-'))
        ctypes.memset(start, 0xff, end - start)
)");
  ExpectDeath(outcome, "died of SIGKILL");
  ExpectFreshSession();
}

TEST_F(DeathTest, WhatACellSaysInTheNameOfItsKeeperIsTheWorkersEndAndNotTheHosts) {
  constexpr char kSpeakAsKeeper[] = R"(
import array, ctypes, os, socket, struct, time
libc = ctypes.CDLL(None)
PIDFD_OPEN, PIDFD_GETFD = 434, 438
keeper = libc.syscall(PIDFD_OPEN, os.getppid(), 0)
def sockets():
    for name in os.listdir(f'/proc/{os.getppid()}/fd'):
        if os.readlink(f'/proc/{os.getppid()}/fd/{name}').startswith('socket:'):
            fd = libc.syscall(PIDFD_GETFD, keeper, int(name), 0)
            if fd < 0: raise PermissionError
            yield socket.socket(fileno=fd)
fds = array.array('i', [libc.syscall(PIDFD_OPEN, os.getpid(), 0), keeper])
hello = struct.pack('<Hi', KEEPER_HELLO, WORKER_PID)
for to_host in sockets():
    try:
        to_host.sendmsg([hello], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
        time.sleep(0.1)
        to_host.send(bytes([255, 255]))  # what no keeper says
    except OSError: pass
time.sleep(30)
)";
  for (const char* worker_pid : {"-5", "0", "os.getpid()"}) {
    CellOutcome outcome = Run(absl::StrCat(
        "import os\nWORKER_PID = ", worker_pid,
        "\nKEEPER_HELLO = ", static_cast<int>(wire::KeeperHello::kType), kSpeakAsKeeper));
    if (outcome.error && outcome.error->ename == "PermissionError") {
      GTEST_SKIP() << "a cell may not take its keeper's socket here";
    }
    ExpectDeath(outcome, "ended because its keeper was killed");
    Run("x = 'kept'");
  }
}

TEST_F(DeathTest, AWorkerThatIsHeldByADebuggerOfItsOwnEndsWithIt) {
  constexpr int kNoOptions = 0, kTraceExit = 0x40;
  for (int options : {kNoOptions, kTraceExit}) {
    CellOutcome seized = Run(absl::StrCat(R"(
import ctypes, os, time
libc = ctypes.CDLL(None)
PTRACE_SEIZE, PR_SET_PTRACER = 0x4206, 0x59616d61
libc.ptrace.argtypes = [ctypes.c_long] * 4
libc.prctl(PR_SET_PTRACER, ctypes.c_long(-1))
read, write = os.pipe()
if not os.fork():
    os.setsid()
    os.write(write, str(libc.ptrace(PTRACE_SEIZE, os.getppid(), 0, )",
                                          options, R"()).encode())
    while True: time.sleep(1000)
os.read(read, 2)
)"));
    if (seized.result() != "b'0'") GTEST_SKIP() << "a cell may not trace here";
    StartedCell cell(session(),
                     "print('ready\\n', end='')\nwhile True:\n"
                     "  try: time.sleep(1000)\n  except KeyboardInterrupt: pass");
    cell.WaitFor("ready");
    const absl::Time start = absl::Now();
    session().Interrupt();
    session().Interrupt();
    EXPECT_EQ(cell.Join().state, StateAfter::kLost);
    EXPECT_LT(absl::Now() - start, kSlowness * absl::Milliseconds(1500));
    EXPECT_THAT(Run("x = 'kept'; 1"), ResultIs("1"));
  }
}

TEST_F(DeathTest, AWorkerThatDiesAgainAndAgainIsReplacedAgainAndAgain) {
  for (int i = 0; i < 20; ++i) {
    CellOutcome outcome = Run("import os\nos._exit(1)");
    EXPECT_THAT(outcome, Fails("WorkerDied")) << i;
    EXPECT_THAT(Run("1"), ResultIs("1")) << i;
  }
}

TEST_F(DeathTest, ADeadWorkersSocketsAndValuesGoWithIt) {
  EXPECT_TRUE(session().Set("y", 5).ok());
  Run("import os\nos._exit(1)");
  EXPECT_EQ(session().Get("y").status().code(), absl::StatusCode::kNotFound);
}

class MemoryCapTest : public DeathTest {
 protected:
  SessionOptions Options() override {
    std::filesystem::create_directory(scratch_ / ".cellar");
    std::ofstream(scratch_ / ".cellar/config.json") << R"({"memory_cap_mb": 300})";
    return {.cwd = scratch_.path()};
  }

 private:
  ScratchDirectory scratch_;
};

TEST_F(MemoryCapTest, ACellThatWantsTooMuchGetsAMemoryErrorAndTheStateIsKept) {
  if (kWorkerSanitized) GTEST_SKIP() << "shadow memory counts";
  EXPECT_THAT(Run("b = bytearray(1 << 30)"), Fails("MemoryError"));
  EXPECT_THAT(Run("small = bytearray(50 << 20)\nx"), ResultIs("'kept'"));
  EXPECT_THAT(Run("l = []\nwhile True: l.append(bytearray(1 << 20))"), Fails("MemoryError"));
  EXPECT_THAT(Run("del l\nx"), ResultIs("'kept'"));
}

TEST_F(MemoryCapTest, AWorkerThatUsesMoreInWaysThatNoLimitCountsIsEnded) {
  if (kWorkerSanitized) GTEST_SKIP() << "shadow memory counts";
  const CellOutcome outcome =
      Run("import mmap, time\nblock = mmap.mmap(-1, 400 << 20)\n"
          "for i in range(400): block.write(b'x' * (1 << 20))\ntime.sleep(60)");
  EXPECT_THAT(outcome, Fails("WorkerDied"));
  EXPECT_THAT(outcome.error->evalue, HasSubstr("of memory, more than the cap of 300 MiB"));
}

}  // namespace
}  // namespace cellar::testing
