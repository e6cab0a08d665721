// Calls that are under way when something ends them, or their cell: interrupts, time, deaths.
#include <signal.h>

#include <algorithm>
#include <thread>

#include "absl/strings/numbers.h"
#include "tests/worker/bridge_fixture.h"

namespace cellar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using BridgeInterruptTest = BridgeTest;

void ExpectInterrupted(const CellOutcome& outcome) {
  EXPECT_EQ(outcome.status, CellStatus::kCancelled) << ::testing::PrintToString(outcome);
  EXPECT_THAT(outcome, Fails("KeyboardInterrupt"));
  EXPECT_EQ(outcome.state, StateAfter::kKept);
}

TEST_F(BridgeInterruptTest, AnInterruptEndsABlockedCallWithinTwentyMilliseconds) {
  absl::Duration best = absl::InfiniteDuration();
  for (size_t i = 1; i <= 10; ++i) {
    std::unique_ptr<StartedCell> cell = StartCalling("call('never', 0)", i);
    const absl::Time start = absl::Now();
    session().Interrupt();
    ExpectInterrupted(cell->Join());
    best = std::min(best, absl::Now() - start);
  }
  // The best of ten, for a machine that does other things as well.
  EXPECT_LT(best, kSlowness * absl::Milliseconds(20));
  ExpectAllCancelled();
}

TEST_F(BridgeInterruptTest, OneInterruptIsOneKeyboardInterrupt) {
  for (size_t i = 1; i <= 20; ++i) {
    std::unique_ptr<StartedCell> cell = StartCalling(
        "try: call('never', 0)\n"
        "except KeyboardInterrupt: time.sleep(0.03); print('once')",
        i);
    session().Interrupt();
    CellOutcome outcome = cell->Join();
    EXPECT_THAT(outcome, Prints("once\n")) << i << ::testing::PrintToString(outcome);
  }
}

TEST_F(BridgeInterruptTest, AnInterruptEndsTheCallsOfThreads) {
  std::unique_ptr<StartedCell> cell = StartCalling(R"(
ended = []
def one():
    try: call('never', 0)
    except KeyboardInterrupt: ended.append(1)
threads = [threading.Thread(target=one) for i in range(4)]
for t in threads: t.start()
for t in threads: t.join()
)",
                                                   4);
  session().Interrupt();
  ExpectInterrupted(cell->Join());
  ExpectAllCancelled();
  // Not join(): after an interrupt Python 3.11 takes a thread for ended that is not.
  EXPECT_THAT(Run("while len(ended) < 4: time.sleep(0.001)\nlen(ended)"), ResultIs("4"));
}

// They belong to no cell: what they ask is asked by the one that runs.
TEST_F(BridgeInterruptTest, AnInterruptEndsTheCallsOfAPoolThatAnEarlierCellMade) {
  Run("from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(4)\n"
      "list(pool.map(abs, range(4)))");
  std::unique_ptr<StartedCell> cell = StartCalling(
      "asked = []\n"
      "for i in range(4): asked.append(pool.submit(call, 'never', i))\n"
      "for each in asked: each.result()",
      4);
  session().Interrupt();
  ExpectInterrupted(cell->Join());
  ExpectAllCancelled();
  EXPECT_THAT(Run("{type(each.exception()).__name__ for each in asked}"),
              ResultIs("{'KeyboardInterrupt'}"));
}

TEST_F(BridgeInterruptTest, AnInterruptEndsAwaitedCalls) {
  std::unique_ptr<StartedCell> cell =
      StartCalling("await asyncio.gather(*(acall('never', i) for i in range(4)))", 4);
  session().Interrupt();
  ExpectInterrupted(cell->Join());
  ExpectAllCancelled();
  EXPECT_THAT(Run("await acall('echo', 1)"), ResultIs("1"));
}

TEST_F(BridgeInterruptTest, AnInterruptEndsTheCallOfATaskThatTheCellDoesNotAwait) {
  std::unique_ptr<StartedCell> cell =
      StartCalling("task = asyncio.create_task(acall('never', 0))\nawait asyncio.sleep(100)", 1);
  session().Interrupt();
  ExpectInterrupted(cell->Join());
  ExpectAllCancelled();
  EXPECT_THAT(Run("await asyncio.wait([task], timeout=10)\ntask.cancelled()"), ResultIs("True"));
}

TEST_F(BridgeInterruptTest, AnInterruptedCellMakesNoMoreCalls) {
  std::unique_ptr<StartedCell> cell = StartCalling(
      "for i in range(3):\n    try: call('never', 0)\n"
      "    except KeyboardInterrupt: print('interrupted')",
      1);
  session().Interrupt();
  EXPECT_THAT(cell->Join(), Prints("interrupted\ninterrupted\ninterrupted\n"));
  EXPECT_EQ(log_->started().size(), 1u);
}

TEST_F(BridgeInterruptTest, CallsOfAnEarlierCellGoOnWhenALaterOneIsInterrupted) {
  Run("got = []\nt = threading.Thread(target=lambda: got.append(call('never', 0)))\nt.start()");
  ASSERT_TRUE(Eventually([] { return log_->calls().size() == 1; }));
  std::unique_ptr<StartedCell> cell = StartCalling("call('never', 1)", 2);
  session().Interrupt();
  ExpectInterrupted(cell->Join());
  EXPECT_THAT(log_->cancelled(), ElementsAre(log_->started()[1]));
  log_->calls()[0].second({.value = "\"still there\""});
  EXPECT_THAT(Run("t.join()\ngot"), ResultIs("['still there']"));
}

TEST_F(BridgeInterruptTest, ASignalOfTheCellsOwnEndsTheCall) {
  EXPECT_THAT(Run(R"(
import signal
def ring(*_): raise TimeoutError('rung')
signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.05)
try: call('never', 0)
except TimeoutError as error: print(error)
call('echo', 'next')
)"),
              ResultIs("'next'"));
  ExpectAllCancelled();
}

TEST_F(BridgeInterruptTest, AnAnswerAfterTheCellEndedIsDropped) {
  std::unique_ptr<StartedCell> cell = StartCalling("call('never', 0)", 1);
  session().Interrupt();
  ExpectInterrupted(cell->Join());
  log_->calls()[0].second({.value = "\"late\""});
  EXPECT_THAT(Run("call('echo', 'mine')"), ResultIs("'mine'"));
}

TEST_F(BridgeInterruptTest, TheClockStandsStillWhileTheHostIsAsked) {
  CellOutcome outcome = Run("call('slow', 0)", {.timeout = absl::Milliseconds(300)});
  EXPECT_THAT(outcome, ResultIs("'slow'"));
  EXPECT_FALSE(outcome.timed_out);
}

TEST_F(BridgeInterruptTest, TheClockStandsStillWhileAThreadOfAPoolAsks) {
  CellOutcome outcome =
      Run("from concurrent.futures import ThreadPoolExecutor\n"
          "with ThreadPoolExecutor(1) as pool: answer = pool.submit(call, 'slow', 0).result()\n"
          "answer",
          {.timeout = absl::Milliseconds(300)});
  EXPECT_THAT(outcome, ResultIs("'slow'"));
}

TEST_F(BridgeInterruptTest, TheClockGoesOnAfterTheAnswer) {
  CellOutcome outcome =
      Run("call('slow', 0)\nwhile True: pass", {.timeout = absl::Milliseconds(300)});
  ExpectInterrupted(outcome);
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_GE(outcome.duration, absl::Milliseconds(1300));
  EXPECT_LT(outcome.duration, absl::Seconds(5));
}

// As calls by HTTP do.
TEST_F(BridgeInterruptTest, TheClockStandsStillWhileSomebodyElseIsAsked) {
  CellOutcome outcome = Run("with bridge.host.elsewhere(): time.sleep(0.6)\n'back'",
                            {.timeout = absl::Milliseconds(300)});
  EXPECT_THAT(outcome, ResultIs("'back'"));
  outcome = Run("with bridge.host.elsewhere(): pass\nwhile True: pass",
                {.timeout = absl::Milliseconds(300)});
  ExpectInterrupted(outcome);
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_THAT(log_->calls(), IsEmpty());
  EXPECT_THAT(log_->cancelled(), IsEmpty());
}

TEST_F(BridgeInterruptTest, AnInterruptIsHeardWhereSomebodyElseIsAsked) {
  std::unique_ptr<StartedCell> cell = StartCalling(
      "import select\n"
      "def ask():\n"
      "    try:\n"
      "        with bridge.host.elsewhere() as host:\n"
      "            waiting.set()\n"
      "            select.select([host], [], [])\n"
      "            host.hear()\n"
      "    except KeyboardInterrupt:\n"
      "        heard.append(1)\n"
      "waiting, heard = threading.Event(), []\n"
      "thread = threading.Thread(target=ask)\n"
      "thread.start()\n"
      "waiting.wait()\n"
      "call('never', 0)",
      1);
  session().Interrupt();
  ExpectInterrupted(cell->Join());
  EXPECT_THAT(Run("thread.join()\nheard"), ResultIs("[1]"));
}

TEST_F(BridgeInterruptTest, ACallHasALimitOfItsOwn) {
  absl::StatusOr<std::unique_ptr<Host>> host =
      Host::Start({.bridge = tools_.get(), .bridge_limit = absl::Milliseconds(200)});
  ASSERT_TRUE(host.ok()) << host.status();
  absl::StatusOr<std::unique_ptr<Session>> session = (*host)->Open();
  ASSERT_TRUE(session.ok()) << session.status();
  auto outcome = (*session)->Run("from cellar_runtime import bridge\nbridge.host.call('never', 0)");
  ASSERT_TRUE(outcome.ok());
  ASSERT_THAT(*outcome, Fails("BridgeError"));
  EXPECT_EQ(outcome->error->evalue, "the host gave no answer within 200ms");
  ExpectAllCancelled();
}

TEST_F(BridgeInterruptTest, AWorkerKilledInTheMiddleOfManyCallsEndsThemAll) {
  const CellOutcome pid = Run("os.getpid()");
  std::unique_ptr<StartedCell> cell = StartCalling(R"(
for i in range(7): threading.Thread(target=call, args=('never', i)).start()
call('never', 7)
)",
                                                   8);
  int number = 0;
  ASSERT_TRUE(absl::SimpleAtoi(pid.result().value_or(""), &number));
  kill(number, SIGKILL);
  CellOutcome outcome = cell->Join();
  EXPECT_TRUE(outcome.death.has_value());
  EXPECT_EQ(outcome.state, StateAfter::kLost);
  ExpectAllCancelled();
  for (const auto& [call, reply] : log_->calls()) reply({.value = "\"too late\""});
  EXPECT_THAT(Run("from cellar_runtime import bridge\nbridge.host.call('echo', 'alive')"),
              ResultIs("'alive'"));
}

TEST_F(BridgeInterruptTest, ClosingTheSessionCancelsItsCalls) {
  std::unique_ptr<Session> other = Open();
  absl::StatusOr<CellOutcome> outcome = CellOutcome{};
  std::thread waiting([&] { outcome = other->Run("call('never', 0)", {.timeout = {}}); });
  EXPECT_TRUE(Eventually([] { return log_->calls().size() == 1; }));
  other->Close();
  waiting.join();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->status, CellStatus::kCancelled);
  ExpectAllCancelled();
  log_->calls()[0].second({.value = "1"});
}

}  // namespace
}  // namespace cellar::testing
