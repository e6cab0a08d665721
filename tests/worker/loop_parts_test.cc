// Cells that take apart the library under the event loop: the next cell works, its variables are
// there, and it says what had to be put back.
#include "tests/testing/worker_test.h"

namespace cellar::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

struct Wrecker {
  const char* name;
  const char* code;
  const char* told;  // in a notice, at the latest when the loop has needed it
};

constexpr Wrecker kWreckers[] = {
    {"Clock", "import time\ntime.monotonic = lambda: 1 / 0", "time.monotonic"},
    {"Turn", "import asyncio\nasyncio.BaseEventLoop._run_once = None", "BaseEventLoop._run_once"},
    {"Callbacks", "import asyncio\nasyncio.Handle._run = None", "Handle._run"},
    // Hides what the class inherits.
    {"Selector", "import selectors\nselectors.PollSelector.select = None", "PollSelector.select"},
    {"ModuleOfTheLoop",
     "from asyncio import base_events\n"
     "for name in dir(base_events):\n    if name[:2] != '__': setattr(base_events, name, None)",
     "asyncio.base_events."},
};

class LoopPartsTest : public CellTest, public ::testing::WithParamInterface<Wrecker> {};

TEST_P(LoopPartsTest, ArePutBackAndSaid) {
  Run("x = 42");
  ASSERT_THAT(Run(GetParam().code), Succeeds());
  std::vector<std::string> notices;
  for (const char* code : {"x", "import asyncio\nawait asyncio.sleep(0.01)\nx", "x"}) {
    const CellOutcome after = Run(code);
    EXPECT_THAT(after, ResultIs("42"));
    notices.insert(notices.end(), after.notices.begin(), after.notices.end());
  }
  EXPECT_THAT(notices, Contains(HasSubstr(GetParam().told)));
}

INSTANTIATE_TEST_SUITE_P(All, LoopPartsTest, ::testing::ValuesIn(kWreckers),
                         [](const auto& wrecker) { return std::string(wrecker.param.name); });

TEST_F(CellTest, AClockOfItsOwnStaysWithASessionWhoseLoopWorks) {
  Run("import time\nnow = time.monotonic\ntime.monotonic = lambda: now() + 1000\nmine = "
      "time.monotonic");
  EXPECT_THAT(Run("import asyncio\nawait asyncio.sleep(0.01)\ntime.monotonic is mine"),
              ResultIs("True"));
}

TEST_F(CellTest, SysWithoutAnythingInIt) {
  Run("x = 42");
  Run("import sys\nfor name in dir(sys):\n    if name[:2] != '__': setattr(sys, name, None)");
  EXPECT_THAT(Run("x"), ResultIs("42"));
}

}  // namespace
}  // namespace cellar::testing
