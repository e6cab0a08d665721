// What a template does ahead of time: it rehearses the worker that it forks, and has one waiting.
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "host/base/process.h"
#include "tests/testing/worker_test.h"

namespace cellar::testing {
namespace {

class SpareTest : public WorkerTest {
 protected:
  // The result of one cell in a session of its own.
  std::string InNewSession(const std::string& code) {
    absl::StatusOr<std::unique_ptr<Session>> session = host().Open(Options());
    if (!session.ok()) return session.status().ToString();
    absl::StatusOr<CellOutcome> outcome = (*session)->Run(code);
    return outcome.ok() ? outcome->result().value_or("no result") : outcome.status().ToString();
  }

  // Keeper and worker that wait for the next session.
  static std::vector<pid_t> Spares() {
    std::vector<pid_t> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      pid_t pid;
      if (!absl::SimpleAtoi(entry.path().filename().string(), &pid)) continue;
      std::string name;
      std::getline(std::ifstream(entry.path() / "comm"), name);
      if (name == "cellar-spare" && IsOurs(pid)) found.push_back(pid);
    }
    return found;
  }

 private:
  static bool IsOurs(pid_t pid) {
    while (pid > 1 && pid != getpid()) pid = ParentOf(pid);
    return pid == getpid();
  }
};

// All that a cell could tell a rehearsed worker by, but for code that is adapted to its use.
constexpr char kTraces[] =
    "import asyncio, linecache, os, sys\n"
    "[In[:-1], Out, _, __, sorted(globals()), [name for name in linecache.cache if name[0] == "
    "'<'], "
    "os.getcwd(), sys.path, len(asyncio.all_tasks()), sys.exc_info(), hasattr(sys, 'last_value')]";
constexpr char kAdapted[] =
    "from cellar_runtime.runner import Runner\n"
    "Runner.execute.__code__._co_code_adaptive != Runner.execute.__code__.co_code";

TEST_F(SpareTest, ARehearsalLeavesNoTrace) {
  absl::StatusOr<std::unique_ptr<Host>> fresh = Host::Start({});
  ASSERT_TRUE(fresh.ok()) << fresh.status();
  absl::StatusOr<std::unique_ptr<Session>> first = (*fresh)->Open(Options());
  ASSERT_TRUE(first.ok()) << first.status();
  const std::string expected = (*first)->Run(kTraces)->result().value_or("no result");
  EXPECT_EQ((*first)->Run(kAdapted)->result(), "False");

  const auto is_rehearsed = [&] {
    absl::SleepFor(absl::Milliseconds(100));  // it is done when nobody wants a session
    return InNewSession(kAdapted) == "True";
  };
  ASSERT_TRUE(Eventually(is_rehearsed));
  EXPECT_EQ(InNewSession(kTraces), expected);
}

TEST_F(SpareTest, AKilledSpareIsNotMissed) {
  for (size_t victim = 0; victim < 2; ++victim) {  // the keeper, then the worker
    InNewSession("1");
    InNewSession("1");
    ASSERT_TRUE(Eventually([] { return Spares().size() == 2; }));
    kill(Spares()[victim], SIGKILL);
    EXPECT_EQ(InNewSession("6 * 7"), "42");
  }
}

TEST_F(SpareTest, AStoppedSpareDoesNotHoldUpTheNextSession) {
  for (size_t victim = 0; victim < 2; ++victim) {  // the keeper, then the worker
    InNewSession("1");
    InNewSession("1");
    ASSERT_TRUE(Eventually([] { return Spares().size() == 2; }));
    kill(Spares()[victim], SIGSTOP);
    const absl::Time start = absl::Now();
    EXPECT_EQ(InNewSession("6 * 7"), "42");
    EXPECT_LT(absl::Now() - start, kSlowness * absl::Seconds(5));
  }
}

TEST_F(SpareTest, SessionsDrawTheirOwnRandomNumbers) {
  const std::string draw = "import random, uuid\nrandom.random(), uuid.uuid4()";
  EXPECT_NE(InNewSession(draw), InNewSession(draw));
  EXPECT_NE(InNewSession(draw), InNewSession(draw));
}

}  // namespace
}  // namespace cellar::testing
