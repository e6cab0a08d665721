// What a cell may expect of the session it runs in.
#include <filesystem>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/scratch_directory.h"
#include "tests/testing/worker_test.h"

namespace cellar::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class CellsTest : public WorkerTest {};

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

TEST_F(CellsTest, ACarriageReturnEndsALine) {
  EXPECT_THAT(Run("a = 1;\rb = 2\r\n3"), ResultIs("3"));
  EXPECT_THAT(Run("a, b;\r"), HasNoResult());
  EXPECT_THAT(Run("!echo {a}\r!echo {b}\r\nb"), AllOf(Prints("1\n2\n"), ResultIs("2")));
  EXPECT_THAT(Run("In[1]"), ResultIs(R"('a = 1;\nb = 2\n3')"));
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

TEST_F(CellsTest, AnUnderscoreThatWasDeletedIsTheLastResultAgain) {
  Run("_ = 'mine'");
  Run("del _");
  Run("5");
  EXPECT_THAT(Run("_"), ResultIs("5"));
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

// --- the session around them ---------------------------------------------------------------------

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
  Run("builtins.answer = 42\nbuiltins.sorted = reversed");
  EXPECT_THAT(Run("answer, sorted is reversed"), ResultIs("(42, True)"));
  EXPECT_THAT(Run("sorted(5)").notices, ::testing::ElementsAre(HasSubstr("changed: sorted")));
}

TEST_F(CellsTest, ABuiltinInWhichACellFailsIsPutBack) {
  Run("import builtins\ndef fail(*_): 1 / 0\nbuiltins.sorted = builtins.print = fail");
  EXPECT_TRUE(Run("print('x')").error.has_value());
  const CellOutcome after = Run("print('x')\nsorted([2, 1])");
  EXPECT_THAT(after, ResultIs("[1, 2]"));
  EXPECT_THAT(after.notices, ::testing::ElementsAre(HasSubstr("builtins.print")));
}

TEST_F(CellsTest, ABuiltinThatIsBrokenByACellThatFailsIsPutBack) {
  EXPECT_THAT(Run("import builtins\ndel builtins.len\n1 / 0"), Fails("ZeroDivisionError"));
  EXPECT_THAT(Run("len([1])"), ResultIs("1"));
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
    raise ValueError(rings)
def ringer():  # a timer would be stopped at the end of the cell
    for i in range(20):
        os.kill(os.getpid(), signal.SIGUSR1)
        while rings <= i: time.sleep(0.002)
    open(path, 'w').close()
signal.signal(signal.SIGUSR1, ring)
threading.Timer(0.02, ringer).start()
)");
  ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(directory / "rang"); }));
  EXPECT_THAT(Run("rings"), ResultIs("20"));
}

}  // namespace
}  // namespace cellar::testing
