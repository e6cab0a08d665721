// Processes and threads that cells start.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/worker_test.h"

namespace cellar::testing {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

class ProcessesTest : public WorkerTest {};

TEST_F(ProcessesTest, AForkedChildThatReturnsFromTheCellExits) {
  CellOutcome outcome =
      Run("import os\npid = os.fork()\nif pid: os.waitpid(pid, 0)\n"
          "print('parent' if pid else 'child')\n7");
  EXPECT_THAT(outcome, ResultIs("7"));
  EXPECT_EQ(outcome.stdout_text(), "child\nparent\n");
  EXPECT_THAT(Run("print('once')"), Prints("once\n"));
}

TEST_F(ProcessesTest, AForkedChildShowsNoResultAndEndsWell) {
  CellOutcome outcome =
      Run("import os\npid = os.fork()\nended = os.waitpid(pid, 0)[1] if pid else None\n[ended]");
  EXPECT_THAT(outcome, ResultIs("[0]"));
  EXPECT_EQ(outcome.stderr_text(), "");
}

TEST_F(ProcessesTest, AForkedChildThatReturnsFromAnAwaitExits) {
  CellOutcome outcome =
      Run("import asyncio, os\npid = os.fork()\nif pid: os.waitpid(pid, 0)\n"
          "await asyncio.sleep(0.01)\nprint('parent' if pid else 'child')");
  EXPECT_THAT(outcome.stdout_text(),
              AllOf(HasSubstr("parent\n"), Not(HasSubstr("parent\nparent"))));
  EXPECT_THAT(Run("1"), ResultIs("1"));
}

TEST_F(ProcessesTest, AForkedChildExitsWithTheCodeOfItsError) {
  EXPECT_THAT(Run("import os, sys\npid = os.fork()\nif not pid: sys.exit(7)\n"
                  "os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])"),
              ResultIs("7"));
  CellOutcome raised =
      Run("pid = os.fork()\nif not pid: 1 / 0\n"
          "os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])");
  EXPECT_THAT(raised, ResultIs("1"));
  EXPECT_THAT(raised.stderr_text(), EndsWith("ZeroDivisionError: division by zero\n"));
}

TEST_F(ProcessesTest, AForkedChildHearsSigintWhoeverForkedItAndWhateverRuns) {
  Run(R"(
import asyncio, os, signal, threading, time
def fork():
    global pid
    is_ready, ready = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.write(ready, b'x')
            for _ in range(600): time.sleep(0.1)  # a signal directly before one does not end it
        except KeyboardInterrupt:
            os._exit(7)
        os._exit(8)
    os.read(is_ready, 1)
)");
  EXPECT_THAT(Run("thread = threading.Thread(target=fork)\nthread.start()\nthread.join()\n"
                  "os.kill(pid, signal.SIGINT)\n"
                  "os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])"),
              ResultIs("7"));
  Run("fork()\nloop = asyncio.get_running_loop()\n"
      "_ = loop.call_soon(os.kill, pid, signal.SIGINT)  # when the cell is over");
  EXPECT_THAT(Run("os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])"), ResultIs("7"));
}

TEST_F(ProcessesTest, AForkedChildCannotSendFrames) {
  CellOutcome outcome =
      Run("import os\npid = os.fork()\nif not pid: display({'a': 1})\n"
          "os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])");
  EXPECT_THAT(outcome, ResultIs("1"));
  EXPECT_EQ(outcome.outputs.size(), 2u) << "the child's error and the result";
  EXPECT_THAT(outcome.stderr_text(),
              HasSubstr("a process forked by a cell cannot use the session"));
}

TEST_F(ProcessesTest, AChildForkedByATaskExits) {
  CellOutcome outcome = Run(R"(
import asyncio, os
async def fork():
    pid = os.fork()
    if pid: os.waitpid(pid, 0)
    print('parent' if pid else 'child')
await asyncio.create_task(fork())
)");
  EXPECT_EQ(outcome.stdout_text(), "child\nparent\n");
  EXPECT_THAT(Run("1"), ResultIs("1"));
}

TEST_F(ProcessesTest, ThreadsRunAndPrint) {
  EXPECT_THAT(Run("import threading\nthreads = [threading.Thread(target=print, args=(i,)) for i in "
                  "range(3)]\n"
                  "for t in threads:\n    t.start()\n    t.join()"),
              Prints("0\n1\n2\n"));
  EXPECT_THAT(Run("import asyncio\nawait asyncio.to_thread(sum, [1, 2])"), ResultIs("3"));
  EXPECT_THAT(Run("from concurrent.futures import ThreadPoolExecutor\n"
                  "with ThreadPoolExecutor() as pool: r = list(pool.map(abs, [-1, -2]))\nr"),
              ResultIs("[1, 2]"));
}

TEST_F(ProcessesTest, AProcessPoolRunsFunctionsOfTheCell) {
  Run("def square(x): return x * x");
  EXPECT_THAT(Run("import multiprocessing\nwith multiprocessing.Pool(2) as pool: r = "
                  "pool.map(square, range(4))\nr"),
              ResultIs("[0, 1, 4, 9]"));
  EXPECT_THAT(Run("from concurrent.futures import ProcessPoolExecutor\n"
                  "with ProcessPoolExecutor(2) as pool: r = list(pool.map(square, range(4)))\nr"),
              ResultIs("[0, 1, 4, 9]"));
}

TEST_F(ProcessesTest, AProcessOfMultiprocessingPrints) {
  EXPECT_THAT(
      Run("import multiprocessing\np = multiprocessing.Process(target=print, args=('child',))\n"
          "p.start()\np.join()\nprint(p.exitcode)"),
      Prints("child\n0\n"));
}

TEST_F(ProcessesTest, SubprocessesRun) {
  EXPECT_THAT(
      Run("import subprocess\nsubprocess.run(['cat'], input=b'in', capture_output=True).stdout"),
      ResultIs("b'in'"));
  EXPECT_THAT(Run("subprocess.run('exit 3', shell=True).returncode"), ResultIs("3"));
  EXPECT_THAT(Run("import os\nos.system('exit 4') >> 8"), ResultIs("4"));
}

TEST_F(ProcessesTest, AsyncioSubprocessesRun) {
  EXPECT_THAT(
      Run("import asyncio\n"
          "p = await asyncio.create_subprocess_exec('sh', '-c', 'echo hi; exit 3', stdout=-1)\n"
          "out, _err = await p.communicate()\nout, p.returncode"),
      ResultIs("(b'hi\\n', 3)"));
}

TEST_F(ProcessesTest, AChildStartedByACellHasNoSignalMaskAndNoStrayDescriptor) {
  EXPECT_THAT(Run("import subprocess\n"
                  "subprocess.run(['grep', '-h', 'SigBlk', '/proc/self/status'])"
                  ".returncode;\n"
                  "import os\nos.system('ls /proc/self/fd | tr \"\\\\n\" \" \"');"),
              Prints("SigBlk:\t0000000000000000\n0 1 2 3 "));
}

TEST_F(ProcessesTest, ThereIsNoTerminal) {
  EXPECT_THAT(Run("open('/dev/tty')"), Fails("OSError"));
  EXPECT_THAT(Run("import os\nos.getsid(0) == os.getpid(), os.read(0, 10)"),
              ResultIs("(True, b'')"));
}

}  // namespace
}  // namespace cellar::testing
