// Sessions that branch off from others.
#include <signal.h>

#include <string>

#include "tests/snapshot/snapshot_test.h"
#include "tests/testing/leftovers.h"

namespace cellar::testing {
namespace {

using ::testing::AnyOf;

std::string EvaluateIn(Session& session, std::string code) {
  absl::StatusOr<CellOutcome> outcome = session.Run(std::move(code));
  if (!outcome.ok()) return std::string(outcome.status().message());
  return outcome->result().value_or(::testing::PrintToString(*outcome));
}

class BranchTest : public SnapshotTest {};

TEST_F(BranchTest, BothGoOnByThemselves) {
  Run("x = [1]");
  Branched branch = Branch();
  ASSERT_NE(branch.session, nullptr);
  EXPECT_EQ(branch.standing.before_cell, 2u);
  EXPECT_EQ(EvaluateIn(*branch.session, "x.append(2); x"), "[1, 2]");
  EXPECT_EQ(Evaluate("x"), "[1]");
  EXPECT_EQ(EvaluateIn(*branch.session, "x"), "[1, 2]");
}

TEST_F(BranchTest, OutlivesTheSessionItCameFrom) {
  Run("x = 1");
  Branched branch = Branch();
  session().Close();
  EXPECT_EQ(EvaluateIn(*branch.session, "x"), "1");
  branch.session->Close();
}

TEST_F(BranchTest, DiesAlone) {
  Run("x = 1");
  Branched branch = Branch();
  auto died = branch.session->Run("import os\nos.abort()");
  ASSERT_TRUE(died.ok());
  EXPECT_EQ(died->state, StateAfter::kRestored) << died->state_detail;
  EXPECT_EQ(EvaluateIn(*branch.session, "x"), "1");
  Run("import os\nos.abort()");
  EXPECT_EQ(EvaluateIn(*branch.session, "x"), "1");
  EXPECT_EQ(Evaluate("x"), "1");
}

// Its processes are below the keeper of the session that it came from, and end with that one.
TEST_F(BranchTest, GoesOnAfreshWhenTheKeeperOfItsOriginIsKilled) {
  const int keeper = std::stoi(Evaluate("import os; x = 1; os.getppid()"));
  Branched busy = Branch();
  Branched idle = Branch();
  session().Close();  // the keeper stays for the branches
  const int idle_worker = std::stoi(EvaluateIn(*idle.session, "os.getpid()"));
  StartedCell cell(*busy.session, "print('ready')\nimport time\ntime.sleep(100)");
  cell.WaitFor("ready");
  kill(keeper, SIGKILL);
  CellOutcome ended = cell.Join();
  EXPECT_THAT(ended, Fails("WorkerDied"));
  EXPECT_EQ(ended.state, StateAfter::kLost);
  // Its own keeper, which goes with the other, may still tell how the worker ended.
  const auto tells = [](const std::string& consequence) {
    return AnyOf("the worker ended because its keeper was killed" + consequence,
                 "the worker died of SIGKILL" + consequence);
  };
  EXPECT_THAT(ended.state_detail, tells(", state lost"));
  ASSERT_TRUE(Eventually([&] { return kill(idle_worker, 0) != 0; }));
  for (Session* branch : {busy.session.get(), idle.session.get()}) {
    absl::StatusOr<CellOutcome> next = branch->Run("'x' in globals()");
    ASSERT_TRUE(next.ok()) << next.status();
    EXPECT_THAT(*next, ResultIs("False"));
    EXPECT_EQ(next->state, StateAfter::kFresh);
    EXPECT_THAT(next->state_detail, tells("; this cell ran in a fresh session"));
    // And it is as well kept as any other session.
    absl::StatusOr<CellOutcome> died = branch->Run("import os\nos.abort()");
    ASSERT_TRUE(died.ok()) << died.status();
    EXPECT_EQ(died->state, StateAfter::kRestored) << died->state_detail;
  }
}

TEST_F(BranchTest, LeavesNothingOfALaterWorkerWhenItsKeeperIsKilled) {
  Run("import os, subprocess; x = 1");
  Branched branch = Branch();
  auto died = branch.session->Run("os.abort()");  // the next worker is not the one it began with
  ASSERT_TRUE(died.ok());
  ASSERT_EQ(died->state, StateAfter::kRestored) << died->state_detail;
  EvaluateIn(
      *branch.session,
      "pids = [subprocess.Popen(['sleep', '1000'], start_new_session=own).pid for own in (False, "
      "True)]");
  const int child = std::stoi(EvaluateIn(*branch.session, "pids[0]"));
  const int in_own_session = std::stoi(EvaluateIn(*branch.session, "pids[1]"));
  const int worker = std::stoi(EvaluateIn(*branch.session, "os.getpid()"));
  ASSERT_EQ(kill(std::stoi(EvaluateIn(*branch.session, "os.getppid()")), SIGKILL), 0);
  for (int pid : {worker, child, in_own_session}) {
    EXPECT_TRUE(Eventually([&] { return kill(pid, 0) != 0; })) << pid;
  }
  EXPECT_EQ(Evaluate("x"), "1") << "the session that it came from goes on";
}

TEST_F(BranchTest, CanStartFromAKeptSnapshot) {
  Run("x = 1");
  Run("x = 2");
  Branched branch = Branch({.before_cell = 2});
  EXPECT_EQ(EvaluateIn(*branch.session, "x"), "1");
  EXPECT_EQ(Evaluate("x"), "2");
  EXPECT_EQ(session().Branch({.before_cell = 9}).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(BranchTest, OfABranch) {
  Run("x = 1");
  Branched first = Branch();
  absl::StatusOr<Branched> second = first.session->Branch();
  ASSERT_TRUE(second.ok()) << second.status();
  first.session->Close();
  EXPECT_EQ(EvaluateIn(*second->session, "x"), "1");
}

TEST_F(BranchTest, DrawsOtherRandomNumbersUnlessToldNotTo) {
  Run("import random");
  Branched other = Branch();
  Branched same = Branch({.same_random = true});
  const std::string drawn = Evaluate("random.random()");
  EXPECT_EQ(EvaluateIn(*same.session, "random.random()"), drawn);
  EXPECT_NE(EvaluateIn(*other.session, "random.random()"), drawn);
}

TEST_F(BranchTest, BesideAModuleThatIsNumpyByNameOnly) {
  Run("import sys, types\nsys.modules['numpy'] = types.ModuleType('numpy')\nx = 1");
  Branched branch = Branch();
  EXPECT_EQ(EvaluateIn(*branch.session, "x"), "1");
}

TEST_F(BranchTest, CanBeInterrupted) {
  Run("x = 1");
  Branched branch = Branch();
  StartedCell cell(*branch.session, "print('ready')\nwhile True: pass");
  cell.WaitFor("ready");
  branch.session->Interrupt();
  CellOutcome outcome = cell.Join();
  EXPECT_THAT(outcome, Fails("KeyboardInterrupt"));
  EXPECT_EQ(outcome.state, StateAfter::kKept);
}

TEST_F(BranchTest, LeavesTheChildrenOfTheOriginalAlone) {
  Run("import subprocess, multiprocessing as mp, time\n"
      "p = subprocess.Popen(['sleep', '1000'])\n"
      "q = mp.get_context('fork').Process(target=time.sleep, args=(1000,)); q.start()");
  Branched branch = Branch();
  EXPECT_THAT(branch.standing.not_carried, ::testing::Contains(::testing::HasSubstr("(sleep)")));
  ASSERT_TRUE(branch.session->Run("p.kill(); q.terminate()").ok());
  branch.session->Close();
  EXPECT_EQ(Evaluate("p.poll(), q.is_alive()"), "(None, True)");
  Run("p.kill(); q.kill(); p.wait(); q.join()");
}

TEST_F(BranchTest, BesideAThreadThatHasDoneWhatItWasMadeFor) {
  Run("import concurrent.futures, threading\n"
      "concurrent.futures.ThreadPoolExecutor\n"
      "is_done, end = threading.Event(), threading.Event()\n"
      "class Lingering(threading.Thread):\n"
      "  def run(self):\n"
      "    super().run()\n"
      "    is_done.set()\n"
      "    end.wait()\n"
      "Lingering(daemon=True).start()\n"
      "x = is_done.wait()");
  Branched branch = Branch();
  ASSERT_NE(branch.session, nullptr);
  EXPECT_EQ(EvaluateIn(*branch.session, "x"), "True");
}

TEST_F(BranchTest, AHundredLeaveNothingBehind) {
  Run("x = list(range(1000))");
  const auto open_before = CountOpenFds();
  for (int i = 0; i < 100; ++i) {
    Branched branch = Branch();
    ASSERT_NE(branch.session, nullptr);
    ASSERT_EQ(EvaluateIn(*branch.session, "len(x)"), "1000");
  }
  EXPECT_LE(CountOpenFds(), open_before + 8);
}

}  // namespace
}  // namespace cellar::testing
