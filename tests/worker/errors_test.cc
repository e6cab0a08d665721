// Cells that fail: what is said of it, and what is left.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/worker_test.h"

namespace cellar::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ErrorsTest : public WorkerTest {
 protected:
  std::string TracebackOf(std::string code) {
    CellOutcome outcome = Run(std::move(code));
    EXPECT_EQ(outcome.status, CellStatus::kError);
    return outcome.error ? outcome.error->traceback : "";
  }
};

TEST_F(ErrorsTest, ATracebackShowsTheLinesOfThisAndOfEarlierCells) {
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

TEST_F(ErrorsTest, AnErrorOfAThreadShowsTheLinesOfCellsToo) {
  Run("import threading\ndef divide(x):\n    return 1 / x");
  const std::string run =
      "thread = threading.Thread(target=divide, args=(0,), name='divider')\n"
      "thread.start(); thread.join()";
  const std::string text = Run(run).stderr_text();
  EXPECT_THAT(text, ::testing::StartsWith("Exception in thread divider:\nTraceback "
                                          "(most recent call last):\n"));
  EXPECT_THAT(text, ::testing::EndsWith("  File \"<cell 1>\", line 3, in divide\n"
                                        "    return 1 / x\n"
                                        "           ~~^~~\n"
                                        "ZeroDivisionError: division by zero\n"));
  Run("before, threading.excepthook = threading.excepthook, lambda args: print('mine')");
  EXPECT_EQ(Run(run).stdout_text(), "mine\n");
}

TEST_F(ErrorsTest, AnErrorThatIsIgnoredShowsTheLinesOfCellsToo) {
  EXPECT_THAT(Run("class Cart:\n    def __del__(self):\n        1 / 0\ncart = Cart()\ndel cart")
                  .stderr_text(),
              ::testing::StartsWith("Exception ignored in: <function Cart.__del__ at"));
  EXPECT_THAT(Run("cart = Cart()\ndel cart").stderr_text(),
              ::testing::EndsWith("Traceback (most recent call last):\n"
                                  "  File \"<cell 1>\", line 3, in __del__\n"
                                  "    1 / 0\n"
                                  "    ~~^~~\n"
                                  "ZeroDivisionError: division by zero\n"));
}

TEST_F(ErrorsTest, TheLastErrorCanBeLookedAt) {
  Run("def divide(x):\n    return 1 / x\ndivide(0)");
  EXPECT_EQ(Run("import sys, traceback\ntraceback.print_last()").stderr_text(),
            "Traceback (most recent call last):\n"
            "  File \"<cell 1>\", line 3, in <module>\n"
            "    divide(0)\n"
            "  File \"<cell 1>\", line 2, in divide\n"
            "    return 1 / x\n"
            "           ~~^~~\n"
            "ZeroDivisionError: division by zero\n");
  EXPECT_THAT(Run("sys.last_type, sys.last_value.args"),
              ResultIs("(<class 'ZeroDivisionError'>, ('division by zero',))"));
  Run("%reset");
  EXPECT_THAT(Run("import sys\nhasattr(sys, 'last_traceback')"), ResultIs("False"));
  Run("raise MemoryError");
  EXPECT_THAT(Run("hasattr(sys, 'last_traceback')"), ResultIs("False"));
}

TEST_F(ErrorsTest, AnErrorHasNameValueAndTheStateIsKept) {
  CellOutcome outcome = Run("x = 3\nraise KeyError('missing')");
  ASSERT_TRUE(outcome.error.has_value());
  EXPECT_EQ(outcome.status, CellStatus::kError);
  EXPECT_EQ(outcome.error->ename, "KeyError");
  EXPECT_EQ(outcome.error->evalue, "'missing'");
  EXPECT_EQ(outcome.error->exit_code, std::nullopt);
  EXPECT_EQ(outcome.state, StateAfter::kKept);
  EXPECT_THAT(Run("x"), ResultIs("3"));
}

TEST_F(ErrorsTest, ATracebackShowsCauses) {
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

TEST_F(ErrorsTest, ATracebackShowsTheMembersOfAGroup) {
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

TEST_F(ErrorsTest, ATracebackHasNoFramesOfCellarsOwn) {
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

TEST_F(ErrorsTest, ASyntaxErrorIsTheCaretBlockOnly) {
  EXPECT_EQ(TracebackOf("x = 1\ny = = 2"),
            "  File \"<cell 1>\", line 2\n"
            "    y = = 2\n"
            "        ^\n"
            "SyntaxError: invalid syntax");
  EXPECT_THAT(Run("'x' in globals()"), ResultIs("False"));
}

TEST_F(ErrorsTest, CodeThatIsNoTextIsASyntaxErrorAndTheSessionGoesOn) {
  Run("x = 1");
  CellOutcome nul = Run(std::string("y = 1\0", 6));
  ASSERT_TRUE(nul.error.has_value());
  EXPECT_THAT(nul.error->ename, ::testing::AnyOf("SyntaxError", "ValueError"));
  EXPECT_THAT(nul.error->traceback, HasSubstr("null byte"));
  EXPECT_THAT(Run("y = '\xff\xfe'\nlen(y)"), ResultIs("2"));
  EXPECT_THAT(Run(std::string(5000, '(') + "1" + std::string(5000, ')')), Not(Succeeds()));
  EXPECT_THAT(Run("x"), ResultIs("1"));
}

TEST_F(ErrorsTest, SystemExitEndsTheCellAndCarriesItsCode) {
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

TEST_F(ErrorsTest, SystemExitInATaskOrThreadEndsNeitherCellNorWorker) {
  Run("import asyncio, sys, threading\nx = 1");
  EXPECT_THAT(Run("t = threading.Thread(target=sys.exit)\nt.start()\nt.join()\nx"), ResultIs("1"));
  Run("async def leave(): sys.exit(3)\ntask = asyncio.create_task(leave())");
  EXPECT_THAT(Run("x, task.done()"), ResultIs("(1, True)"));
}

TEST_F(ErrorsTest, AnErrorThatCannotSayItselfIsStillReported) {
  CellOutcome outcome = Run(
      "class Broken(Exception):\n  def __str__(self): 1 / 0\n  __repr__ = __str__\nraise Broken");
  ASSERT_TRUE(outcome.error.has_value());
  EXPECT_EQ(outcome.error->ename, "Broken");
  EXPECT_THAT(outcome.error->traceback, HasSubstr("line 4, in <module>\n    raise Broken\nBroken"));
  EXPECT_THAT(Run("1"), ResultIs("1"));
}

TEST_F(ErrorsTest, AResultThatCannotSayItselfIsAPlaceholder) {
  Run("class Broken:\n  def __repr__(self): 1 / 0");
  CellOutcome outcome = Run("Broken()");
  EXPECT_THAT(outcome, ResultIs(AllOf(HasSubstr("Broken"), HasSubstr("ZeroDivisionError"))));
  EXPECT_THAT(Run("type(_).__name__"), ResultIs("'Broken'"));
}

TEST_F(ErrorsTest, AnErrorOfAnyBaseClassIsReported) {
  EXPECT_THAT(Run("class E(BaseException): pass\nraise E"), Fails("E"));
  EXPECT_THAT(Run("import asyncio\nraise asyncio.CancelledError"), Fails("CancelledError"));
  EXPECT_THAT(Run("raise KeyboardInterrupt"), Fails("KeyboardInterrupt"));
  EXPECT_THAT(Run("raise GeneratorExit"), Fails("GeneratorExit"));
  EXPECT_THAT(Run("raise StopIteration"), Fails(::testing::AnyOf("StopIteration", "RuntimeError")));
  EXPECT_THAT(Run("1"), ResultIs("1"));
}

TEST_F(ErrorsTest, EndlessRecursionIsAnError) {
  EXPECT_THAT(Run("def f(): f()\nf()"), Fails("RecursionError"));
}

TEST_F(ErrorsTest, BuiltinsThatCellsHaveBrokenAreNamedAndTheOthersCounted) {
  Run("import builtins\nfor name in ('abs', 'all', 'any', 'ascii', 'bin', 'bool', 'breakpoint'):\n"
      "    setattr(builtins, name, None)");
  EXPECT_THAT(Run("abs(1)").notices,
              ::testing::ElementsAre(
                  "put back after an earlier cell changed it: builtins.abs, builtins.all, "
                  "builtins.any, builtins.ascii, builtins.bin, 2 more"));
}

}  // namespace
}  // namespace cellar::testing
