// Interrupts: whatever a cell does, it ends, and the outcome says truly what is left of the state.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/loop_session.h"
#include "tests/testing/moments.h"
#include "tests/testing/scratch_directory.h"
#include "tests/testing/worker_test.h"

namespace cellar::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// One write, so that an interrupt cannot come in the middle of it.
constexpr char kReady[] = "print('ready\\n', end='')\n";

// Calls `act` for ever. Two interrupts may come at once, so the second must not escape through the
// handling of the first.
constexpr char kResist[] = R"(
def resist(act):
    while True:
        try:
            while True:
                try:
                    print('ready\n', end='')
                    act()
                except BaseException: pass
        except BaseException: pass
)";

// A lock that C code takes twice: no signal ends that wait.
constexpr char kDeadlock[] =
    "import ctypes\nmutex = ctypes.create_string_buffer(64)\nlibc.pthread_mutex_lock(mutex)\n";

class InterruptTest : public WorkerTest {
 protected:
  using WorkerTest::WorkerTest;

  void SetUp() override {
    WorkerTest::SetUp();
    Run("x = 'kept'");
  }

  // Interrupts the cell when it has printed "ready".
  CellOutcome Interrupt(const std::string& code) {
    StartedCell cell(session(), code);
    cell.WaitFor("ready");
    const absl::Time start = absl::Now();
    session().Interrupt();
    CellOutcome outcome = cell.Join();
    latency_ = absl::Now() - start;
    return outcome;
  }

  void ExpectKept(const CellOutcome& outcome, const std::string& what) {
    EXPECT_EQ(outcome.status, CellStatus::kCancelled) << what << ::testing::PrintToString(outcome);
    EXPECT_EQ(outcome.state, StateAfter::kKept) << what;
    EXPECT_THAT(outcome.state_detail,
                AllOf(StartsWith("interrupted after "), HasSubstr("state kept")))
        << what;
    EXPECT_THAT(outcome, Fails("KeyboardInterrupt")) << what;
    EXPECT_FALSE(outcome.death.has_value()) << what;
    EXPECT_THAT(Run("x"), ResultIs("'kept'")) << what;
  }

  void ExpectLost(const CellOutcome& outcome, const std::string& what) {
    EXPECT_EQ(outcome.status, CellStatus::kCancelled) << what << ::testing::PrintToString(outcome);
    EXPECT_EQ(outcome.state, StateAfter::kLost) << what;
    EXPECT_THAT(outcome.state_detail, AllOf(HasSubstr("killed"), HasSubstr("state lost"))) << what;
    EXPECT_THAT(outcome.stdout_text(), StartsWith("ready\n")) << what;
    ASSERT_TRUE(outcome.death.has_value()) << what;
    CellOutcome next = Run("'x' in globals()");
    EXPECT_THAT(next, ResultIs("False")) << what;
    EXPECT_EQ(next.state, StateAfter::kFresh) << what;
  }

  absl::Duration latency_;
};

// The last rung comes soon here.
class ShortGraceTest : public InterruptTest {
 protected:
  ShortGraceTest() : InterruptTest(absl::Milliseconds(300)) {}
};

// --- state kept ---------------------------------------------------------------------------------

TEST_F(InterruptTest, EndsPythonCodeAtOnceAndKeepsTheState) {
  for (const char* code :
       {"while True: pass", "import time\ntime.sleep(100)",
        "import asyncio\nawait asyncio.sleep(100)",
        "await asyncio.gather(asyncio.sleep(100), asyncio.sleep(100))",
        "await asyncio.wait_for(asyncio.sleep(100), 200)",
        "async with asyncio.TaskGroup() as g: g.create_task(asyncio.sleep(100))",
        "await asyncio.get_running_loop().create_future()",
        "async def f():\n    while True: pass\nawait f()",
        "import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()",
        "threading.Event().wait()", "import queue\nqueue.Queue().get()",
        "import subprocess\nsubprocess.run(['sleep', '100'])",
        "import socket\na, b = socket.socketpair()\na.recv(1)",
        "p = await asyncio.create_subprocess_exec('sleep', '100')\nawait p.wait()",
        "import re\nre.match('(a+)+$', 'a' * 60 + 'b')",
        "import ctypes\nctypes.CDLL(None).sleep(100)", "ctypes.PyDLL(None).sleep(100)",
        "print('x')\nwhile True: print(end='')"}) {
    // The imports first: what is measured is the blocking call.
    std::string text = code;
    const size_t last =
        text.find_last_of('\n') == std::string::npos ? 0 : text.find_last_of('\n') + 1;
    const bool one_block = text.find("\n    ") != std::string::npos;
    text.insert(one_block ? 0 : last, kReady);
    ExpectKept(Interrupt(text), code);
    // The bar is 20 ms; the rest is for a busy machine. The second rung comes after 1 s.
    EXPECT_LT(latency_, kSlowness * absl::Milliseconds(900)) << code;
  }
}

TEST_F(InterruptTest, PartialOutputAndTracebackAreThere) {
  CellOutcome outcome = Interrupt("import time\nprint('ready\\n', end=''); time.sleep(100)");
  EXPECT_EQ(outcome.stdout_text(), "ready\n");
  EXPECT_THAT(
      outcome.error->traceback,
      AllOf(StartsWith(
                "Traceback (most recent call last):\n  File \"<cell 2>\", line 2, in <module>\n"
                "    print('ready\\n', end=''); time.sleep(100)\n"),
            EndsWith("\nKeyboardInterrupt")));
}

TEST_F(InterruptTest, ACellMayCatchTheInterruptAndFinish) {
  CellOutcome outcome = Interrupt(
      absl::StrCat("import time\ntry:\n    ", kReady,
                   "    time.sleep(100)\nexcept KeyboardInterrupt: print('cleaned up')\n5"));
  EXPECT_THAT(outcome, ResultIs("5"));
  EXPECT_EQ(outcome.stdout_text(), "ready\ncleaned up\n");
}

TEST_F(InterruptTest, AFinallyBlockRunsToItsEnd) {
  CellOutcome outcome =
      Interrupt(absl::StrCat("import asyncio\ntry:\n    ", kReady,
                             "    await asyncio.sleep(100)\nfinally:\n"
                             "    await asyncio.sleep(0.05)\n    print('closed')"));
  ExpectKept(outcome, "finally");
  EXPECT_EQ(outcome.stdout_text(), "ready\nclosed\n");
}

TEST_F(InterruptTest, HitsACellWhateverItDidToSigint) {
  for (const char* code : {"import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n",
                           "signal.signal(signal.SIGINT, lambda *a: None)\n",
                           "signal.signal(signal.SIGINT, "
                           "signal.SIG_DFL)\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n",
                           "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])\n"}) {
    ExpectKept(Interrupt(absl::StrCat(code, kReady, "while True: time.sleep(0.1)")), code);
    // And the next interrupt is a quick one again.
    ExpectKept(Interrupt(absl::StrCat(kReady, "while True: time.sleep(0.1)")), code);
    EXPECT_LT(latency_, kSlowness * absl::Milliseconds(900)) << "after " << code;
  }
}

TEST_F(InterruptTest, OfAWorkerWithoutHandlersIsNoDeathOfItsOwn) {
  StartedCell cell(session(),
                   "import ctypes, time\nlibc = ctypes.CDLL(None)\n"
                   "for number in range(1, 65): libc.signal(number, None)\n"
                   "print('ready')\ntime.sleep(987)");
  cell.WaitFor("ready");
  session().Interrupt();
  const CellOutcome outcome = cell.Join();
  EXPECT_EQ(outcome.status, CellStatus::kCancelled);
  EXPECT_EQ(outcome.state_detail, "was interrupted, which ended the worker, state lost");
  EXPECT_THAT(outcome, Fails("CellKilled"));
}

TEST_F(InterruptTest, EndsCellsAfterOneThatChangedHowHandlersAreCalled) {
  const std::string deadlock = absl::StrCat(
      "import threading\nlock = threading.Lock()\nlock.acquire()\n", kReady, "lock.acquire()");
  Run("import signal\nfor number in signal.valid_signals():\n"
      "    try: signal.siginterrupt(number, False)\n    except OSError: pass");
  ExpectKept(Interrupt(deadlock), "calls that begin again");
  Run("import ctypes\nclass Stack(ctypes.Structure):\n    _fields_ = [('sp', ctypes.c_void_p), "
      "('flags', ctypes.c_int), ('size', ctypes.c_size_t)]\n"
      "ctypes.CDLL(None).sigaltstack(ctypes.byref(Stack(4096, 0, 1 << 20)), None)");
  ExpectKept(Interrupt(deadlock), "a stack that is none");
}

TEST_F(InterruptTest, SaysThatTheHandlerWasPutBack) {
  Run("import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN);");
  EXPECT_THAT(Run("1").notices, ::testing::ElementsAre(HasSubstr("SIGINT")));
  EXPECT_THAT(Run("1").notices, IsEmpty());
}

TEST_F(InterruptTest, SparesTheTasksOfEarlierCells) {
  Run("import asyncio\nasync def live():\n    while True: await asyncio.sleep(0.01)\ntask = "
      "asyncio.create_task(live())");
  ExpectKept(Interrupt(absl::StrCat(kReady, "await asyncio.sleep(100)")), "await");
  ExpectKept(Interrupt(absl::StrCat(kReady, "while True: pass")), "busy");
  EXPECT_THAT(Run("task.done()"), ResultIs("False"));
}

TEST_F(InterruptTest, ATaskThatBlocksTheLoopIsInterruptedInstead) {
  ExpectKept(
      Interrupt(absl::StrCat(
          "import asyncio, time\nasync def block():\n    ", kReady,
          "    time.sleep(100)\ntask = asyncio.create_task(block())\nawait asyncio.sleep(100)")),
      "a blocking task");
  EXPECT_THAT(Run("task.done()"), ResultIs("True"));
}

TEST_F(InterruptTest, ATaskThatKeepsACellFromBeginningMakesWay) {
  Run("import asyncio\nasync def spin():\n    while True: pass\n"
      "task = asyncio.create_task(spin())");
  StartedCell cell(session(), "1");
  absl::SleepFor(absl::Milliseconds(200));  // nothing tells that a cell has not begun
  session().Interrupt();
  ExpectKept(cell.Join(), "a task before the cell");
  EXPECT_THAT(Run("task.done()"), ResultIs("True"));
}

TEST_F(InterruptTest, WakesAStoppedWorker) {
  StartedCell cell(session(),
                   absl::StrCat("import os, signal, time\n", kReady,
                                "os.kill(os.getpid(), signal.SIGSTOP)\ntime.sleep(100)"));
  cell.WaitFor("ready");
  session().Interrupt();
  ExpectKept(cell.Join(), "stopped");
}

TEST_F(InterruptTest, ReachesTheChildrenOfTheCell) {
  ExpectKept(
      Interrupt(absl::StrCat("import subprocess, time\np = subprocess.Popen(['sleep', '100'])\n",
                             kReady, "time.sleep(100)")),
      "child");
  EXPECT_THAT(Run("p.wait(5)"), ResultIs("-2"));
}

TEST_F(InterruptTest, IsNothingWhenNothingRuns) {
  for (int i = 0; i < 20; ++i) {
    session().Interrupt();
    EXPECT_THAT(Run("x"), ResultIs("'kept'"));
    session().Interrupt();
  }
}

TEST_F(InterruptTest, ASigintFromTheCellItselfIsAKeyboardInterruptLikeAnyOther) {
  CellOutcome outcome =
      Run("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nfor i in range(1000): pass");
  EXPECT_THAT(outcome, Fails("KeyboardInterrupt"));
  EXPECT_THAT(Run("x"), ResultIs("'kept'"));
}

// --- killed -------------------------------------------------------------------------------------

TEST_F(ShortGraceTest, KillsWhatNeverEndsAndSaysThatTheStateIsLost) {
  for (const char* code : {"import time\nresist(lambda: time.sleep(100))",
                           "def spin():\n  while True: pass\nresist(spin)",
                           "import time\nclass R:\n  def __repr__(self): resist(lambda: "
                           "time.sleep(1))\nR()"}) {
    ExpectLost(Interrupt(absl::StrCat(kResist, code)), code);
  }
}

TEST_F(ShortGraceTest, KillsACoroutineThatCannotBeCancelled) {
  ExpectLost(Interrupt(R"(
import asyncio
while True:
    try:
        while True:
            try:
                print('ready\n', end='')
                await asyncio.sleep(1)
            except BaseException: pass
    except BaseException: pass
)"),
             "await");
}

TEST_F(ShortGraceTest, KillsCCodeThatNeverReturnsAndShowsWhereItHung) {
  for (const char* library : {"CDLL", "PyDLL"}) {
    CellOutcome outcome = Interrupt(
        absl::StrCat("import ctypes\nlibc = ctypes.", library, "(None)\n", kDeadlock,
                     "def hang():\n    libc.pthread_mutex_lock(mutex)\n", kResist, "resist(hang)"));
    ASSERT_TRUE(outcome.death.has_value()) << library;
    EXPECT_THAT(outcome.death->python_stack, HasSubstr(">\", line 7 in hang\n")) << library;
    EXPECT_THAT(outcome.death->python_stack, HasSubstr(" in resist\n")) << library;
    ExpectLost(outcome, library);
    Run("x = 'kept'");
  }
}

TEST_F(ShortGraceTest, KillsWhatTheCellStartedToo) {
  CellOutcome outcome =
      Interrupt(absl::StrCat(kResist,
                             "import subprocess, time\nfor i in range(5):\n"
                             "  subprocess.Popen(['sleep', '100'], start_new_session=True)\n"
                             "resist(lambda: time.sleep(100))"));
  ExpectLost(outcome, "children");  // TearDown looks for them
}

TEST_F(ShortGraceTest, KillsAStoppedWorkerThatStopsAgain) {
  ExpectLost(
      Interrupt(absl::StrCat(
          kResist, "import os, signal\nresist(lambda: os.kill(os.getpid(), signal.SIGSTOP))")),
      "stopped");
}

TEST_F(InterruptTest, ASecondInterruptKillsAtOnce) {
  StartedCell cell(session(),
                   "import time\nwhile True:\n  try:\n    print('ready\\n', end='')\n"
                   "    time.sleep(100)\n  except KeyboardInterrupt: print('no\\n', end='')");
  cell.WaitFor("ready");
  session().Interrupt();
  cell.WaitFor("no");
  const absl::Time start = absl::Now();
  session().Interrupt();
  CellOutcome outcome = cell.Join();
  EXPECT_LT(absl::Now() - start, kSlowness * absl::Milliseconds(900));
  EXPECT_EQ(outcome.state, StateAfter::kLost);
  EXPECT_THAT(outcome.stdout_text(), StartsWith("ready\nno\n"));
}

// --- time-outs ----------------------------------------------------------------------------------

TEST_F(InterruptTest, ATimeOutIsAnInterruptThatSaysSo) {
  for (const char* code : {"while True: pass", "import time\ntime.sleep(100)",
                           "import asyncio\nawait asyncio.sleep(100)"}) {
    CellOutcome outcome = Run(absl::StrCat(kReady, code), {.timeout = absl::Milliseconds(100)});
    EXPECT_TRUE(outcome.timed_out) << code;
    EXPECT_EQ(outcome.stdout_text(), "ready\n") << code;
    EXPECT_GE(outcome.duration, absl::Milliseconds(100)) << code;
    ExpectKept(outcome, code);
  }
}

TEST_F(ShortGraceTest, ATimeOutThatHadToKillSaysBoth) {
  CellOutcome outcome = Run(absl::StrCat(kResist, "import time\nresist(lambda: time.sleep(100))"),
                            {.timeout = absl::Milliseconds(100)});
  EXPECT_TRUE(outcome.timed_out);
  ExpectLost(outcome, "time-out");
}

TEST_F(InterruptTest, PrintsDoNotProlongTheTime) {
  CellOutcome outcome = Run("import time\nwhile True:\n  print('.')\n  time.sleep(0.01)",
                            {.timeout = absl::Milliseconds(200)});
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_LT(outcome.duration, absl::Seconds(2));
}

TEST_F(InterruptTest, ACellThatEndsInTimeIsNotTimedOut) {
  CellOutcome outcome = Run("import time\ntime.sleep(0.01)\n5", {.timeout = absl::Seconds(5)});
  EXPECT_THAT(outcome, ResultIs("5"));
  EXPECT_FALSE(outcome.timed_out);
}

TEST_F(InterruptTest, ACellCanInterruptItself) {
  const char* const ways[] = {"signal.raise_signal(signal.SIGINT)", "_thread.interrupt_main()",
                              "signal.pthread_kill(threading.get_ident(), signal.SIGINT)",
                              "os.kill(os.getpid(), signal.SIGINT)"};
  Run("import _thread, os, signal, threading, time");
  for (int round = 0; round < 2; ++round) {
    for (const std::string way : ways) {
      EXPECT_THAT(Run(way + "\nfor i in range(100): pass\n'went on'"), Fails("KeyboardInterrupt"))
          << way << round;
    }
    // What the host sent says nothing of what the cell sends later.
    ExpectKept(Run("time.sleep(100)", {.timeout = absl::Milliseconds(50)}), "interrupted");
  }
}

// --- at any moment ------------------------------------------------------------------------------

class MomentTest : public ::testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<host::Launch> launch = LoopSession::Prepare(scratch_.path());
    ASSERT_TRUE(launch.ok()) << launch.status();
    session_ = std::make_unique<LoopSession>(launch->session, scratch_ / "artifacts");
    Run("import asyncio, time\nx = 'kept'");
  }

  CellOutcome Run(std::string code, std::optional<absl::Duration> interrupt_after = std::nullopt) {
    absl::StatusOr<CellOutcome> outcome = session_->Run(std::move(code), interrupt_after);
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    return outcome.ok() ? *std::move(outcome) : CellOutcome{};
  }

  Moments moments_;

 private:
  ScratchDirectory scratch_;
  std::unique_ptr<LoopSession> session_;
};

TEST_F(MomentTest, AThousandShortCellsAreHitOrMissedAndNothingElse) {
  const int count = InterruptedCells();
  const char* cells[] = {"end = time.perf_counter() + 0.004\nwhile time.perf_counter() < end: pass",
                         "time.sleep(0.004)", "await asyncio.sleep(0.004)",
                         "for i in range(300): print(i)",
                         "class R:\n  def __repr__(self): time.sleep(0.002); return 'r'\nR()"};
  int hit = 0;
  for (int i = 0; i < count; ++i) {
    const absl::Time start = absl::Now();
    CellOutcome outcome = Run(cells[i % 5], moments_.Within(absl::Milliseconds(10)));
    // After 1 s the host insists: then the first signal was not heard.
    ASSERT_LT(absl::Now() - start, kSlowness * absl::Milliseconds(900)) << i;
    ASSERT_THAT(outcome.status, AnyOf(CellStatus::kComplete, CellStatus::kCancelled))
        << i << ::testing::PrintToString(outcome);
    ASSERT_EQ(outcome.state, StateAfter::kKept) << i;
    if (outcome.status == CellStatus::kCancelled) {
      ++hit;
      ASSERT_THAT(outcome, Fails("KeyboardInterrupt")) << i;
    }
    ASSERT_THAT(Run("x"), ResultIs("'kept'")) << "the cell after cell " << i << " was hit";
  }
  EXPECT_GT(hit, count / 10) << "the moments were not spread over the cells";
}

TEST_F(MomentTest, NoLongCellMissesItsInterruptHoweverEarlyItComes) {
  const char* cells[] = {"while True: pass", "time.sleep(60)", "await asyncio.sleep(60)",
                         "await asyncio.sleep(0)\nwhile True: pass"};
  for (int i = 0; i < 1200; ++i) {
    const absl::Time start = absl::Now();
    CellOutcome outcome = Run(cells[i % 4], moments_.Within(absl::Microseconds(500)));
    ASSERT_EQ(outcome.status, CellStatus::kCancelled) << i << ::testing::PrintToString(outcome);
    ASSERT_EQ(outcome.state, StateAfter::kKept) << i;
    // After 1 s the host insists: then the first signal was not heard.
    EXPECT_LT(absl::Now() - start, kSlowness * absl::Milliseconds(900)) << i << " " << cells[i % 4];
    ASSERT_THAT(Run("x"), ResultIs("'kept'")) << i;
  }
}

TEST_F(InterruptTest, AnInterruptDuringTheDisplayOfAResultIsThatCells) {
  Run("import time\nclass Slow:\n  def __repr__(self):\n    print('ready\\n', end='')\n    "
      "time.sleep(60)\n    return 'slow'");
  CellOutcome outcome = Interrupt("Slow()");
  EXPECT_EQ(outcome.status, CellStatus::kCancelled) << ::testing::PrintToString(outcome);
  EXPECT_THAT(Run("x"), ResultIs("'kept'"));
}

}  // namespace
}  // namespace cellar::testing
