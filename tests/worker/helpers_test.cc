// The helpers as cells use them: what needs a real worker.
#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/scratch_directory.h"
#include "tests/testing/worker_test.h"

namespace cellar::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class HelpersTest : public WorkerTest {
 protected:
  SessionOptions Options() override { return {.cwd = scratch_.path()}; }

  ScratchDirectory scratch_;
};

TEST_F(HelpersTest, AreThereAndGiveStatusEvents) {
  CellOutcome outcome = Run("write('a/b.txt', 'text')\nread('a/b.txt')");
  EXPECT_THAT(outcome, ResultIs("'text'"));
  ASSERT_EQ(outcome.outputs.size(), 3u);
  EXPECT_EQ(outcome.outputs[0].data[0].mime, "application/x-cellar-status");
  EXPECT_THAT(outcome.outputs[1].data[0].data, HasSubstr(R"("op":"read","path":"a/b.txt")"));
}

TEST_F(HelpersTest, AnErrorShowsTheCellsLineOnly) {
  CellOutcome outcome = Run("read('none.txt')");
  ASSERT_TRUE(outcome.error.has_value());
  EXPECT_EQ(outcome.error->traceback,
            "Traceback (most recent call last):\n"
            "  File \"<cell 1>\", line 1, in <module>\n"
            "    read('none.txt')\n"
            "FileNotFoundError: [Errno 2] No such file or directory: 'none.txt'");
}

TEST_F(HelpersTest, HelpDescribesThem) {
  EXPECT_THAT(Run("help(read)").stdout_text(),
              AllOf(HasSubstr("read(path, offset=1, limit=None)"), HasSubstr("lines 100 to 119")));
}

TEST_F(HelpersTest, UseTheStandardLibraryWhateverTheUserHasOfItsNames) {
  Run("env('PI_ARTIFACTS_DIR', write('a.md', '{\"a\": 1}').rpartition('/')[0])\nwrite('b.md', '')\n"
      "for name in ('json', 'difflib', 'dataclasses'): write(name + '.py', 'raise SystemExit(3)')");
  EXPECT_THAT(Run("output('a', query='[\"a\"]'), diff('a.md', 'b.md').splitlines()[-1]"),
              ResultIs("('1', '\\\\ No newline at end of file')"));
  Run("import sys\nsys.modules['json'] = sys.modules['difflib'] = None");
  EXPECT_THAT(Run("output('a', query='[\"a\"]'), diff('a.md', 'b.md').splitlines()[-1]"),
              ResultIs("('1', '\\\\ No newline at end of file')"));
  ASSERT_TRUE(session().Set("n", 1).ok());
  EXPECT_EQ(session().Get("n").value(), 1);
}

TEST_F(HelpersTest, ANameOfTheUsersOwnIsKept) {
  Run("read = 5");
  EXPECT_THAT(Run("read"), ResultIs("5"));
}

TEST_F(HelpersTest, AModuleOfTheUsersThatHangsKeepsNoOtherFromBeingLoaded) {
  const std::filesystem::path modules = scratch_ / ".cellar/modules";
  std::filesystem::create_directories(modules);
  std::ofstream(modules / "a.py") << "a = 1\nimport time\ntime.sleep(600)";
  std::ofstream(modules / "b.py") << "b = 2";
  const CellOutcome first = Run("1", {.timeout = absl::Milliseconds(100)});
  EXPECT_EQ(first.status, CellStatus::kCancelled);
  EXPECT_THAT(first.notices, Contains(HasSubstr("modules/a.py was interrupted")));
  const CellOutcome second = Run("a, b");
  EXPECT_THAT(second, ResultIs("(1, 2)"));
  EXPECT_THAT(second.notices, IsEmpty());
}

TEST_F(HelpersTest, ProgressStartsTheTimeOutAgain) {
  CellOutcome outcome = Run("import time\nfor n in range(4):\n    time.sleep(0.5)\n    log(n)",
                            {.timeout = absl::Seconds(1)});
  EXPECT_TRUE(outcome.ok()) << ::testing::PrintToString(outcome);
}

TEST_F(HelpersTest, WhatAPoolsThreadReportsIsTheRunningCells) {
  CellOutcome outcome =
      Run("import time\nfrom concurrent.futures import ThreadPoolExecutor\n"
          "def report(n):\n"
          "    for _ in range(4):\n        time.sleep(0.5)\n        log(n)\n"
          "with ThreadPoolExecutor(1) as pool: pool.submit(report, 7).result()",
          {.timeout = absl::Seconds(1)});
  EXPECT_TRUE(outcome.ok()) << ::testing::PrintToString(outcome);
  EXPECT_EQ(outcome.outputs.size(), 4u);
}

TEST_F(HelpersTest, WorkInAForkedProcess) {
  EXPECT_THAT(Run("write('x', '1')\n"
                  "from concurrent.futures import ProcessPoolExecutor\n"
                  "with ProcessPoolExecutor(1) as pool: text = pool.submit(read, 'x').result()\n"
                  "text"),
              ResultIs("'1'"));
}

TEST_F(HelpersTest, AnInterruptEndsWhatRunsInParallel) {
  StartedCell cell(session(),
                   "import threading\n"
                   "before = threading.active_count()\n"
                   "started = []\n"
                   "def spin():\n"
                   "    started.append(1)\n"
                   "    if len(started) == 3: print('on', flush=True)\n"
                   "    while True: pass\n"
                   "parallel([lambda: parallel([spin])] + [spin] * 9, concurrency=3)");
  cell.WaitFor("on");
  session().Interrupt();
  CellOutcome outcome = cell.Join();
  EXPECT_EQ(outcome.status, CellStatus::kCancelled);
  EXPECT_EQ(outcome.state, StateAfter::kKept);
  EXPECT_TRUE(Eventually([&] { return Evaluate("threading.active_count() - before") == "0"; }));
  EXPECT_EQ(Evaluate("len(started)"), "3");
}

TEST_F(HelpersTest, AnErrorOfAThunkShowsTheThunk) {
  CellOutcome outcome = Run("def bad():\n    return 1 / 0\nparallel([bad])");
  ASSERT_TRUE(outcome.error.has_value());
  EXPECT_THAT(outcome.error->traceback, AllOf(HasSubstr("line 3, in <module>\n    parallel([bad])"),
                                              HasSubstr("line 2, in bad\n    return 1 / 0")));
}

TEST_F(HelpersTest, WithoutAProviderTheErrorSaysHowToConnectOne) {
  CellOutcome outcome = Run("tool.read(path='x')");
  ASSERT_TRUE(outcome.error.has_value());
  EXPECT_EQ(outcome.error->ename, "NotConnected");
  EXPECT_THAT(outcome.error->evalue, HasSubstr("PI_TOOL_BRIDGE_URL"));
  EXPECT_THAT(Run("budget.remaining()"), ResultIs("inf"));
}

TEST_F(HelpersTest, OutputReadsTheArtifactOfAnEarlierCell) {
  CellOutcome outcome = Run("for n in range(20000): print(n)");
  ASSERT_TRUE(outcome.truncation.has_value());
  EXPECT_THAT(Run("import os\nname = os.listdir(os.environ['ARTIFACTS'])[-1]\n"
                  "output('artifact://' + name, offset=101, limit=2)"),
              ResultIs("'100\\n101\\n'"));
}

}  // namespace
}  // namespace cellar::testing
