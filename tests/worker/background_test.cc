// Output that comes when its cell is over, and output of an earlier cell that comes during another.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/scratch_directory.h"
#include "tests/testing/worker_test.h"
#include "tests/worker/shown_outputs.h"

namespace cellar::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class BackgroundTest : public WorkerTest {};

TEST_F(BackgroundTest, WhatATaskPrintsAfterItsCellComesWithTheNextOutcome) {
  ScratchDirectory scratch;
  Run("import asyncio\nasync def later():\n    await asyncio.sleep(0.01)\n    print('late')\n    "
      "display('later')\n"
      "    open('" +
      (scratch / "mark").string() + "', 'w').close()\ntask = asyncio.create_task(later())");
  ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(scratch / "mark"); }));
  CellOutcome next = Run("print('mine')");
  EXPECT_THAT(Shown(next.outputs), ElementsAre("out:mine\n"));
  EXPECT_THAT(Shown(next.background), ElementsAre("out:late\n", "display:'later'"));
  EXPECT_THAT(Run("1").background, IsEmpty()) << "delivered once";
}

TEST_F(BackgroundTest, WhatAThreadPrintsAfterItsCellComesWithTheNextOutcome) {
  ScratchDirectory scratch;
  ASSERT_TRUE(session().Set("scratch", scratch.path()).ok());
  Run("import os, threading, time\ndef later():\n"
      "    while not os.path.exists(scratch + '/go'): time.sleep(0.001)\n"
      "    print('late')\n    open(scratch + '/mark', 'w').close()\n"
      "t = threading.Thread(target=later)\nt.start()");
  std::ofstream(scratch / "go") << "";  // only now has the cell ended
  ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(scratch / "mark"); }));
  EXPECT_THAT(Shown(Run("1").background), ElementsAre("out:late\n"));
}

TEST_F(BackgroundTest, WhatAnEarlierCellsThreadPrintsDuringACellIsNotThatCells) {
  Run("import threading\ngo = threading.Event()\ndef wait():\n    go.wait()\n    print('of cell "
      "1')\n"
      "t = threading.Thread(target=wait)\nt.start()");
  Watcher watcher;
  CellOutcome outcome =
      Run("print('before')\ngo.set()\nt.join()\nprint('after')", {.observer = &watcher});
  EXPECT_EQ(outcome.stdout_text(), "before\nafter\n");
  EXPECT_THAT(Shown(outcome.background), ElementsAre("out:of cell 1\n"));
  EXPECT_EQ(watcher.background(), "of cell 1\n") << "live, too";
}

TEST_F(BackgroundTest, WhatAPoolOfAnEarlierCellPrintsForACellIsThatCells) {
  Run("from concurrent.futures import ThreadPoolExecutor\npool = "
      "ThreadPoolExecutor(1)\npool.submit(abs, 1).result();");
  EXPECT_THAT(Run("pool.submit(print, 'for cell 2').result();"), Prints("for cell 2\n"));
}

TEST_F(BackgroundTest, WhatAnEarlierCellsTaskPrintsDuringACellIsNotThatCells) {
  Run("import asyncio\ngo = asyncio.Event()\nasync def wait():\n    await go.wait()\n    print('of "
      "cell 1')\n"
      "t = asyncio.create_task(wait())");
  CellOutcome outcome = Run("print('before')\ngo.set()\nawait t\nprint('after')");
  EXPECT_EQ(outcome.stdout_text(), "before\nafter\n");
  EXPECT_THAT(Shown(outcome.background), ElementsAre("out:of cell 1\n"));
}

TEST_F(BackgroundTest, WhatATaskOfTheCellItselfPrintsIsTheCells) {
  EXPECT_THAT(
      Run("import asyncio\nasync def say(): print('mine')\nawait asyncio.create_task(say())\n"
          "await asyncio.to_thread(print, 'mine too')"),
      Prints("mine\nmine too\n"));
}

TEST_F(BackgroundTest, ATaskThatHoldsTheLoopIsEndedForTheNextCell) {
  ScratchDirectory scratch;
  const std::string mark = scratch.path() + "/holds";
  Run("x = 1\nimport asyncio, time\n"
      "async def hold():\n  await asyncio.sleep(0)\n  open('" +
      mark +
      "', 'w').close()\n"
      "  while True: time.sleep(1)\n"
      "task = asyncio.ensure_future(hold())");
  ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(mark); }));
  auto next = session().Run("x", {.timeout = absl::Seconds(2 * kSlowness)});
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_THAT(*next, ResultIs("1"));
  EXPECT_EQ(next->state, StateAfter::kKept);
  EXPECT_THAT(next->notices, Contains(HasSubstr("kept this one from beginning")));
  EXPECT_THAT(Run("task.done()"), ResultIs("True"));
}

TEST_F(BackgroundTest, ACellRunsInTheNextWorkerWhenAThreadHoldsThisOneForGood) {
  ScratchDirectory scratch;
  const std::string mark = scratch.path() + "/holds";
  Run("import collections, itertools, threading, time\n"
      "def hold():\n  time.sleep(0.1)\n  open('" +
      mark +
      "', 'w').close()\n"
      "  collections.deque(itertools.repeat(1), maxlen=0)  # never lets another thread run\n"
      "threading.Thread(target=hold).start()");
  ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(mark); }));
  auto next = session().Run("1 + 1", {.timeout = absl::Seconds(4 * kSlowness)});
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_THAT(*next, ResultIs("2"));
  EXPECT_NE(next->state, StateAfter::kKept);
  EXPECT_THAT(next->state_detail, HasSubstr("kept the next one from beginning"));
}

TEST_F(BackgroundTest, BackgroundOutputSurvivesTheDeathOfTheWorker) {
  ScratchDirectory scratch;
  ASSERT_TRUE(session().Set("scratch", scratch.path()).ok());
  const int keeper =
      std::stoi(Evaluate("import os, threading, time\ndef later():\n"
                         "    while not os.path.exists(scratch + '/go'): time.sleep(0.001)\n"
                         "    print('last words')\n    os._exit(3)\n"
                         "t = threading.Thread(target=later)\nt.start()\nos.getppid()"));
  std::ofstream(scratch / "go") << "";  // only now has the cell ended
  ASSERT_TRUE(Eventually([&] { return kill(keeper, 0) != 0; }));
  EXPECT_THAT(Shown(Run("1").background), ElementsAre("out:last words\n"));
}

}  // namespace
}  // namespace cellar::testing
