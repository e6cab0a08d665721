// What a cell may expect of the session it runs in.
#include <filesystem>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/worker_test.h"

namespace cellar::testing {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

class CellsTest : public WorkerTest {
 protected:
  std::string TracebackOf(std::string code) {
    CellOutcome outcome = Run(std::move(code));
    EXPECT_EQ(outcome.status, CellStatus::kError);
    return outcome.error ? outcome.error->traceback : "";
  }
};

MATCHER(HasNoResult, "completes without a result") { return arg.ok() && !arg.result().has_value(); }

// --- namespace and results ----------------------------------------------------------------------

TEST_F(CellsTest, GlobalsLastFromCellToCell) {
  Run("x = 20\ndef twice(n): return 2 * n\nimport math");
  EXPECT_THAT(Run("twice(x) + math.floor(2.5)"), ResultIs("42"));
}

TEST_F(CellsTest, TheSessionIsTheMainModule) {
  Run("class Point: pass\nx = 5");
  EXPECT_THAT(Run("import __main__, pickle\n"
                  "__name__, __main__.x, type(pickle.loads(pickle.dumps(Point()))) is Point"),
              ResultIs("('__main__', 5, True)"));
}

TEST_F(CellsTest, TheLastExpressionIsTheResult) {
  EXPECT_THAT(Run("y = 1\ny + 1"), ResultIs("2"));
  EXPECT_THAT(Run("'a;b'"), ResultIs("'a;b'"));
  EXPECT_THAT(Run("3  # three; not quiet"), ResultIs("3"));
}

TEST_F(CellsTest, AStatementANoneAndASemicolonGiveNoResult) {
  EXPECT_THAT(Run("x = 1"), HasNoResult());
  EXPECT_THAT(Run("None"), HasNoResult());
  EXPECT_THAT(Run("5;"), HasNoResult());
  EXPECT_THAT(Run("(\n  5\n) ;  # quiet"), HasNoResult());
  EXPECT_THAT(Run("'ü' * 3;"), HasNoResult());
  EXPECT_THAT(Run("dict(Out)"), ResultIs("{}"));
}

TEST_F(CellsTest, AnEmptyCellCompletesAndCounts) {
  EXPECT_THAT(Run(""), HasNoResult());
  EXPECT_THAT(Run("# only a comment\n\n"), HasNoResult());
  EXPECT_EQ(Run("1").execution_count, 3u);
}

TEST_F(CellsTest, KeepsTheHistoryNames) {
  Run("11");
  Run("22");
  Run("33");
  EXPECT_THAT(Run("_, __, ___"), ResultIs("(33, 22, 11)"));
  EXPECT_THAT(Run("Out[1], _2, In[3], In[-1], len(In)"),
              ResultIs("(11, 22, '33', 'Out[1], _2, In[3], In[-1], len(In)', 6)"));
}

TEST_F(CellsTest, AResultThatIsQuietOrNoneDoesNotEnterTheHistory) {
  Run("11");
  Run("None");
  Run("x = 5");
  EXPECT_THAT(Run("_, sorted(Out)"), ResultIs("(11, [1])"));
}

TEST_F(CellsTest, AnUnderscoreOfTheUsersOwnIsLeftAlone) {
  Run("_ = 'mine'");
  Run("5");
  EXPECT_THAT(Run("_"), ResultIs("'mine'"));
}

TEST_F(CellsTest, FutureImportsLast) {
  Run("from __future__ import annotations");
  EXPECT_THAT(Run("def f(x: NotDefined): pass\nf.__annotations__"),
              ResultIs("{'x': 'NotDefined'}"));
}

TEST_F(CellsTest, ContextVariablesLast) {
  Run("import contextvars\nv = contextvars.ContextVar('v', default=0)\nv.set(7)");
  EXPECT_THAT(Run("v.get()"), ResultIs("7"));
  EXPECT_THAT(Run("import asyncio\nawait asyncio.sleep(0)\nv.set(8)\nv.get()"), ResultIs("8"));
  EXPECT_THAT(Run("v.get()"), ResultIs("8"));
}

TEST_F(CellsTest, AModuleBesideTheSessionCanBeImported) {
  EXPECT_THAT(Run("import sys, os\nsys.path[0] == os.getcwd()"), ResultIs("True"));
}

// --- asyncio ------------------------------------------------------------------------------------

TEST_F(CellsTest, AwaitsAtTopLevel) {
  EXPECT_THAT(Run("import asyncio\nx = await asyncio.sleep(0, 40)\nx + await asyncio.sleep(0, 2)"),
              ResultIs("42"));
}

TEST_F(CellsTest, AwaitsInALoopAContextAndAComprehensionAtTopLevel) {
  Run(R"(
import contextlib
async def count():
    for i in range(3): yield i
@contextlib.asynccontextmanager
async def context():
    yield 'inside'
)");
  EXPECT_THAT(Run("seen = []\nasync for i in count(): seen.append(i)\nseen"),
              ResultIs("[0, 1, 2]"));
  EXPECT_THAT(Run("async with context() as where: pass\nwhere"), ResultIs("'inside'"));
  EXPECT_THAT(Run("[2 * i async for i in count()]"), ResultIs("[0, 2, 4]"));
}

TEST_F(CellsTest, ATaskGoesOnBetweenCells) {
  ScratchDirectory scratch;
  const std::string mark = scratch / "mark";
  Run("import asyncio\n"
      "async def later():\n"
      "    await asyncio.sleep(0.02)\n"
      "    global finished\n"
      "    finished = True\n"
      "    open('" +
      mark +
      "', 'w').close()\n"
      "task = asyncio.create_task(later())");
  EXPECT_TRUE(Eventually([&] { return std::filesystem::exists(mark); })) << "no cell is running";
  EXPECT_THAT(Run("finished, task.done()"), ResultIs("(True, True)"));
}

TEST_F(CellsTest, OneLoopServesAllCells) {
  Run("import asyncio\nloop = asyncio.get_running_loop()");
  EXPECT_THAT(Run("asyncio.get_running_loop() is loop"), ResultIs("True"));
  EXPECT_THAT(Run("await asyncio.sleep(0)\nasyncio.get_running_loop() is loop"), ResultIs("True"));
  EXPECT_THAT(Run("def f(): return asyncio.get_event_loop()\nf() is loop"), ResultIs("True"));
}

TEST_F(CellsTest, AFutureMadeByOneCellIsAwaitedByAnother) {
  Run("import asyncio\nfuture = asyncio.get_running_loop().create_future()");
  Run("asyncio.get_running_loop().call_soon(future.set_result, 'there')");
  EXPECT_THAT(Run("await future"), ResultIs("'there'"));
}

TEST_F(CellsTest, AsyncioRunRaises) {
  CellOutcome outcome = Run("import asyncio\nasyncio.run(asyncio.sleep(0))");
  EXPECT_THAT(outcome, Fails("RuntimeError"));
  EXPECT_EQ(outcome.error->evalue, "asyncio.run() cannot be called from a running event loop");
  EXPECT_THAT(Run("await asyncio.sleep(0, 1)"), ResultIs("1"));
}

TEST_F(CellsTest, StoppingTheLoopEndsNothingButTheCell) {
  Run("import asyncio\nx = 1\nasyncio.get_running_loop().stop()");
  EXPECT_THAT(Run("x"), ResultIs("1"));
  EXPECT_THAT(Run("asyncio.get_running_loop().close()"), Fails("RuntimeError"));
  EXPECT_THAT(Run("await asyncio.sleep(0, x)"), ResultIs("1"));
}

// --- errors -------------------------------------------------------------------------------------

TEST_F(CellsTest, ATracebackShowsTheLinesOfThisAndOfEarlierCells) {
  Run("def divide(x):\n    return 1 / x");
  EXPECT_EQ(TracebackOf("y = 0\ndivide(y)"),
            "Traceback (most recent call last):\n"
            "  File \"<cell 2>\", line 2, in <module>\n"
            "    divide(y)\n"
            "  File \"<cell 1>\", line 2, in divide\n"
            "    return 1 / x\n"
            "           ~~^~~\n"
            "ZeroDivisionError: division by zero");
}

TEST_F(CellsTest, AnErrorHasNameValueAndTheStateIsKept) {
  CellOutcome outcome = Run("x = 3\nraise KeyError('missing')");
  ASSERT_TRUE(outcome.error.has_value());
  EXPECT_EQ(outcome.status, CellStatus::kError);
  EXPECT_EQ(outcome.error->ename, "KeyError");
  EXPECT_EQ(outcome.error->evalue, "'missing'");
  EXPECT_EQ(outcome.error->exit_code, std::nullopt);
  EXPECT_EQ(outcome.state, StateAfter::kKept);
  EXPECT_THAT(Run("x"), ResultIs("3"));
}

TEST_F(CellsTest, ATracebackShowsCauses) {
  EXPECT_EQ(
      TracebackOf("try:\n    int('a')\nexcept ValueError as e:\n    raise KeyError('k') from e"),
      "Traceback (most recent call last):\n"
      "  File \"<cell 1>\", line 2, in <module>\n"
      "    int('a')\n"
      "ValueError: invalid literal for int() with base 10: 'a'\n"
      "\n"
      "The above exception was the direct cause of the following exception:\n"
      "\n"
      "Traceback (most recent call last):\n"
      "  File \"<cell 1>\", line 4, in <module>\n"
      "    raise KeyError('k') from e\n"
      "KeyError: 'k'");
}

TEST_F(CellsTest, ATracebackShowsTheMembersOfAGroup) {
  EXPECT_EQ(TracebackOf("raise ExceptionGroup('several', [ValueError(1), TypeError(2)])"),
            "  + Exception Group Traceback (most recent call last):\n"
            "  |   File \"<cell 1>\", line 1, in <module>\n"
            "  |     raise ExceptionGroup('several', [ValueError(1), TypeError(2)])\n"
            "  | ExceptionGroup: several (2 sub-exceptions)\n"
            "  +-+---------------- 1 ----------------\n"
            "    | ValueError: 1\n"
            "    +---------------- 2 ----------------\n"
            "    | TypeError: 2\n"
            "    +------------------------------------");
}

TEST_F(CellsTest, ATracebackHasNoFramesOfCellarsOwn) {
  Run("import asyncio\nasync def fail(): return 1 / 0\nclass R:\n  def __repr__(self): raise "
      "OSError");
  for (const char* code :
       {"1 / 0", "await fail()", "[1 / i async for i in None]", "await asyncio.gather(fail())",
        "display(1, raw=True)", "import no_such_module",
        "try:\n  await fail()\nexcept Exception: 1 / 0"}) {
    EXPECT_THAT(TracebackOf(code), AllOf(HasSubstr("<cell "), Not(HasSubstr("cellar")),
                                         Not(HasSubstr("frozen cellar")), Not(HasSubstr("runner"))))
        << code;
  }
}

TEST_F(CellsTest, ASyntaxErrorIsTheCaretBlockOnly) {
  EXPECT_EQ(TracebackOf("x = 1\ny = = 2"),
            "  File \"<cell 1>\", line 2\n"
            "    y = = 2\n"
            "        ^\n"
            "SyntaxError: invalid syntax");
  EXPECT_THAT(Run("'x' in globals()"), ResultIs("False"));
}

TEST_F(CellsTest, CodeThatIsNoTextIsASyntaxErrorAndTheSessionGoesOn) {
  Run("x = 1");
  CellOutcome nul = Run(std::string("y = 1\0", 6));
  ASSERT_TRUE(nul.error.has_value());
  EXPECT_THAT(nul.error->ename, ::testing::AnyOf("SyntaxError", "ValueError"));
  EXPECT_THAT(nul.error->traceback, HasSubstr("null byte"));
  EXPECT_THAT(Run("y = '\xff\xfe'\nlen(y)"), ResultIs("2"));
  EXPECT_THAT(Run(std::string(5000, '(') + "1" + std::string(5000, ')')), Not(Succeeds()));
  EXPECT_THAT(Run("x"), ResultIs("1"));
}

TEST_F(CellsTest, SystemExitEndsTheCellAndCarriesItsCode) {
  Run("import sys\nx = 1");
  CellOutcome three = Run("sys.exit(3)");
  EXPECT_THAT(three, Fails("SystemExit"));
  EXPECT_EQ(three.error->exit_code, 3);
  EXPECT_EQ(three.error->traceback, "SystemExit: 3");
  EXPECT_EQ(Run("sys.exit()").error->exit_code, 0);
  CellOutcome text = Run("sys.exit('no such file')");
  EXPECT_EQ(text.error->exit_code, 1);
  EXPECT_EQ(text.error->evalue, "no such file");
  EXPECT_EQ(Run("exit(4)").error->exit_code, 4);
  EXPECT_EQ(Run("import asyncio\nawait asyncio.sleep(0)\nsys.exit(5)").error->exit_code, 5);
  EXPECT_THAT(Run("x"), ResultIs("1"));
}

TEST_F(CellsTest, SystemExitInATaskOrThreadEndsNeitherCellNorWorker) {
  Run("import asyncio, sys, threading\nx = 1");
  EXPECT_THAT(Run("t = threading.Thread(target=sys.exit)\nt.start()\nt.join()\nx"), ResultIs("1"));
  Run("async def leave(): sys.exit(3)\ntask = asyncio.create_task(leave())");
  EXPECT_THAT(Run("x, task.done()"), ResultIs("(1, True)"));
}

TEST_F(CellsTest, AnErrorThatCannotSayItselfIsStillReported) {
  CellOutcome outcome = Run(
      "class Broken(Exception):\n  def __str__(self): 1 / 0\n  __repr__ = __str__\nraise Broken");
  ASSERT_TRUE(outcome.error.has_value());
  EXPECT_EQ(outcome.error->ename, "Broken");
  EXPECT_THAT(outcome.error->traceback, HasSubstr("line 4, in <module>\n    raise Broken\nBroken"));
  EXPECT_THAT(Run("1"), ResultIs("1"));
}

TEST_F(CellsTest, AResultThatCannotSayItselfIsAPlaceholder) {
  Run("class Broken:\n  def __repr__(self): 1 / 0");
  CellOutcome outcome = Run("Broken()");
  EXPECT_THAT(outcome, ResultIs(AllOf(HasSubstr("Broken"), HasSubstr("ZeroDivisionError"))));
  EXPECT_THAT(Run("type(_).__name__"), ResultIs("'Broken'"));
}

TEST_F(CellsTest, AnErrorOfAnyBaseClassIsReported) {
  EXPECT_THAT(Run("class E(BaseException): pass\nraise E"), Fails("E"));
  EXPECT_THAT(Run("import asyncio\nraise asyncio.CancelledError"), Fails("CancelledError"));
  EXPECT_THAT(Run("raise KeyboardInterrupt"), Fails("KeyboardInterrupt"));
  EXPECT_THAT(Run("raise GeneratorExit"), Fails("GeneratorExit"));
  EXPECT_THAT(Run("raise StopIteration"), Fails(::testing::AnyOf("StopIteration", "RuntimeError")));
  EXPECT_THAT(Run("1"), ResultIs("1"));
}

TEST_F(CellsTest, EndlessRecursionIsAnError) {
  EXPECT_THAT(Run("def f(): f()\nf()"), Fails("RecursionError"));
}

// --- processes and threads ----------------------------------------------------------------------

TEST_F(CellsTest, AForkedChildThatReturnsFromTheCellExits) {
  CellOutcome outcome =
      Run("import os\npid = os.fork()\nif pid: os.waitpid(pid, 0)\n"
          "print('parent' if pid else 'child')\n7");
  EXPECT_THAT(outcome, ResultIs("7"));
  EXPECT_EQ(outcome.stdout_text(), "child\nparent\n");
  EXPECT_THAT(Run("print('once')"), Prints("once\n"));
}

TEST_F(CellsTest, AForkedChildThatReturnsFromAnAwaitExits) {
  CellOutcome outcome =
      Run("import asyncio, os\npid = os.fork()\nif pid: os.waitpid(pid, 0)\n"
          "await asyncio.sleep(0.01)\nprint('parent' if pid else 'child')");
  EXPECT_THAT(outcome.stdout_text(),
              AllOf(HasSubstr("parent\n"), Not(HasSubstr("parent\nparent"))));
  EXPECT_THAT(Run("1"), ResultIs("1"));
}

TEST_F(CellsTest, AForkedChildExitsWithTheCodeOfItsError) {
  EXPECT_THAT(Run("import os, sys\npid = os.fork()\nif not pid: sys.exit(7)\n"
                  "os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])"),
              ResultIs("7"));
  CellOutcome raised =
      Run("pid = os.fork()\nif not pid: 1 / 0\n"
          "os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])");
  EXPECT_THAT(raised, ResultIs("1"));
  EXPECT_THAT(raised.stderr_text(), EndsWith("ZeroDivisionError: division by zero\n"));
}

TEST_F(CellsTest, AForkedChildCannotSendFrames) {
  CellOutcome outcome =
      Run("import os\npid = os.fork()\nif not pid: display({'a': 1})\n"
          "os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])");
  EXPECT_THAT(outcome, ResultIs("1"));
  EXPECT_EQ(outcome.outputs.size(), 2u) << "the child's error and the result";
  EXPECT_THAT(outcome.stderr_text(),
              HasSubstr("a process forked by a cell cannot use the session"));
}

TEST_F(CellsTest, AChildForkedByATaskExits) {
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

TEST_F(CellsTest, ThreadsRunAndPrint) {
  EXPECT_THAT(Run("import threading\nthreads = [threading.Thread(target=print, args=(i,)) for i in "
                  "range(3)]\n"
                  "for t in threads:\n    t.start()\n    t.join()"),
              Prints("0\n1\n2\n"));
  EXPECT_THAT(Run("import asyncio\nawait asyncio.to_thread(sum, [1, 2])"), ResultIs("3"));
  EXPECT_THAT(Run("from concurrent.futures import ThreadPoolExecutor\n"
                  "with ThreadPoolExecutor() as pool: r = list(pool.map(abs, [-1, -2]))\nr"),
              ResultIs("[1, 2]"));
}

TEST_F(CellsTest, AProcessPoolRunsFunctionsOfTheCell) {
  Run("def square(x): return x * x");
  EXPECT_THAT(Run("import multiprocessing\nwith multiprocessing.Pool(2) as pool: r = "
                  "pool.map(square, range(4))\nr"),
              ResultIs("[0, 1, 4, 9]"));
  EXPECT_THAT(Run("from concurrent.futures import ProcessPoolExecutor\n"
                  "with ProcessPoolExecutor(2) as pool: r = list(pool.map(square, range(4)))\nr"),
              ResultIs("[0, 1, 4, 9]"));
}

TEST_F(CellsTest, AProcessOfMultiprocessingPrints) {
  EXPECT_THAT(
      Run("import multiprocessing\np = multiprocessing.Process(target=print, args=('child',))\n"
          "p.start()\np.join()\nprint(p.exitcode)"),
      Prints("child\n0\n"));
}

TEST_F(CellsTest, SubprocessesRun) {
  EXPECT_THAT(
      Run("import subprocess\nsubprocess.run(['cat'], input=b'in', capture_output=True).stdout"),
      ResultIs("b'in'"));
  EXPECT_THAT(Run("subprocess.run('exit 3', shell=True).returncode"), ResultIs("3"));
  EXPECT_THAT(Run("import os\nos.system('exit 4') >> 8"), ResultIs("4"));
}

TEST_F(CellsTest, AsyncioSubprocessesRun) {
  EXPECT_THAT(
      Run("import asyncio\n"
          "p = await asyncio.create_subprocess_exec('sh', '-c', 'echo hi; exit 3', stdout=-1)\n"
          "out, _err = await p.communicate()\nout, p.returncode"),
      ResultIs("(b'hi\\n', 3)"));
}

TEST_F(CellsTest, AChildStartedByACellHasNoSignalMaskAndNoStrayDescriptor) {
  EXPECT_THAT(Run("import subprocess\n"
                  "subprocess.run(['grep', '-h', 'SigBlk', '/proc/self/status'])"
                  ".returncode;\n"
                  "import os\nos.system('ls /proc/self/fd | tr \"\\\\n\" \" \"');"),
              Prints("SigBlk:\t0000000000000000\n0 1 2 3 "));
}

TEST_F(CellsTest, ThereIsNoTerminal) {
  EXPECT_THAT(Run("open('/dev/tty')"), Fails("OSError"));
  EXPECT_THAT(Run("import os\nos.getsid(0) == os.getpid(), os.read(0, 10)"),
              ResultIs("(True, b'')"));
}

TEST_F(CellsTest, SessionsDrawDifferentRandomNumbers) {
  auto other = host().Open();
  ASSERT_TRUE(other.ok()) << other.status();
  auto theirs = (*other)->Run("import random\nrandom.random()");
  ASSERT_TRUE(theirs.ok()) << theirs.status();
  EXPECT_NE(Evaluate("import random\nrandom.random()"), theirs->result());
}

TEST_F(CellsTest, BrokenBuiltinsAreRepairedAndSaid) {
  Run("import builtins\nbuiltins.len = None\nx = 1");
  const CellOutcome after = Run("len([x])");
  EXPECT_THAT(after, ResultIs("1"));
  EXPECT_THAT(after.notices, ::testing::ElementsAre(HasSubstr("builtins.len")));
  Run("builtins.__dict__.clear()");
  EXPECT_THAT(Run("len([x]), [n for n in range(2)]"), ResultIs("(1, [0, 1])"));
  // What does no harm stays as the cell made it.
  Run("builtins.answer = 42\nbuiltins.sorted = 'mine'");
  EXPECT_THAT(Run("answer, sorted"), ResultIs("(42, 'mine')"));
  EXPECT_THAT(Run("sorted([])").notices, ::testing::ElementsAre(HasSubstr("changed: sorted")));
}

TEST_F(CellsTest, ASignalHandlerThatRaisesBetweenCellsEndsNothing) {
  const ScratchDirectory directory;
  ASSERT_TRUE(session().Set("path", directory / "rang").ok());
  Run(R"(
import os, signal, threading, time
rings = 0
def ring(*_):
    global rings
    rings += 1
    if rings >= 20: open(path, 'w').close()
    raise ValueError(rings)
def ringer():  # a timer would be stopped at the end of the cell
    while rings < 20:
        time.sleep(0.002)
        os.kill(os.getpid(), signal.SIGUSR1)
signal.signal(signal.SIGUSR1, ring)
threading.Timer(0.02, ringer).start()
)");
  ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(directory / "rang"); }));
  EXPECT_THAT(Run("rings >= 20"), ResultIs("True"));
}

}  // namespace
}  // namespace cellar::testing
