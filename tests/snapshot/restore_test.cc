// What becomes of a session whose worker dies or is killed when there is a snapshot.
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/numbers.h"
#include "tests/snapshot/snapshot_test.h"
#include "tests/testing/loop_session.h"
#include "tests/testing/process_stat.h"
#include "tests/testing/scratch_directory.h"

namespace cellar::testing {
namespace {

using ::testing::HasSubstr;

std::set<pid_t> SnapshotsBelow(pid_t keeper) {
  std::set<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    pid_t pid = 0;
    if (!absl::SimpleAtoi(entry.path().filename().string(), &pid)) continue;
    const std::optional<ProcessStat> stat = StatOf(pid);
    std::string name;
    std::getline(std::ifstream(entry.path() / "comm"), name);
    if (stat && stat->parent == keeper && name == "cellar-snap") found.insert(pid);
  }
  return found;
}

class RestoreTest : public SnapshotTest {
 protected:
  // The kill comes soon here.
  RestoreTest() : SnapshotTest(absl::Milliseconds(300)) {}

  void SetUp() override {
    SnapshotTest::SetUp();
    Run("x = [1, 2]");
  }

  void ExpectRestored(const CellOutcome& outcome, const std::string& detail) {
    EXPECT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.state, StateAfter::kRestored) << ::testing::PrintToString(outcome);
    EXPECT_EQ(outcome.state_detail, detail);
    CellOutcome next = Run("x");
    EXPECT_THAT(next, ResultIs("[1, 2]"));
    EXPECT_EQ(next.execution_count, 2u);
    EXPECT_EQ(next.state, StateAfter::kKept);
  }
};

TEST_F(RestoreTest, ALossIsToldOnce) {
  ASSERT_EQ(
      Run("import os, signal, time\nos.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(60)").state,
      StateAfter::kLost);
  ASSERT_TRUE(session().Complete("x").ok());  // which starts a worker
  CellOutcome died = Run("os = __import__('os')\nos._exit(4)");
  EXPECT_EQ(died.state, StateAfter::kRestored) << died.state_detail;
  CellOutcome next = Run("1");
  EXPECT_EQ(next.state, StateAfter::kKept) << next.state_detail;
}

TEST_F(RestoreTest, AfterASegmentationFault) {
  CellOutcome outcome = Run("x.append(3)\nimport ctypes\nctypes.string_at(0)");
  EXPECT_THAT(outcome, Fails("WorkerDied"));
  ExpectRestored(outcome, "died of SIGSEGV in <cell 2> line 3; state is that of before cell 2");
}

TEST_F(RestoreTest, AfterAnAbort) {
  ExpectRestored(Run("x = None\nimport os\nos.abort()"),
                 "died of SIGABRT in <cell 2> line 3; state is that of before cell 2");
}

TEST_F(RestoreTest, AfterAnExit) {
  ExpectRestored(Run("x = None\nimport os\nos._exit(3)"),
                 "exited with code 3; state is that of before cell 2");
}

TEST_F(RestoreTest, WithTheNamesOfItsSharedMemory) {
  Run("from multiprocessing.shared_memory import SharedMemory\n"
      "block = SharedMemory(create=True, size=4096)\nblock.buf[0] = 7");
  EXPECT_EQ(Run("import os\nos._exit(3)").state, StateAfter::kRestored);
  EXPECT_THAT(Run("again = SharedMemory(name=block.name)\nagain.buf[0]"), ResultIs("7"));
  Run("again.close(); block.close(); block.unlink()");
}

TEST_F(RestoreTest, ItsSharedMemoryEndsWithTheSession) {
  Run("from multiprocessing.shared_memory import SharedMemory\n"
      "block = SharedMemory(create=True, size=4096)\nremoved = SharedMemory(create=True, "
      "size=4096)\n"
      "removed.unlink()");
  const std::string name = Evaluate("block.name");
  EXPECT_EQ(Run("import os\nos._exit(3)").state, StateAfter::kRestored);
  const std::filesystem::path file = "/dev/shm/" + name.substr(1, name.size() - 2);
  EXPECT_TRUE(std::filesystem::exists(file));
  session().Close();
  EXPECT_TRUE(Eventually([&] { return !std::filesystem::exists(file); }));
}

TEST_F(RestoreTest, AfterAKillFromOutside) {
  StartedCell cell(session(),
                   "x = None\nimport os, time\nprint(os.getpid(), 'ready')\n"
                   "time.sleep(100)");
  cell.WaitFor("ready");
  const int pid = std::stoi(cell.text());
  kill(pid, SIGKILL);
  ExpectRestored(cell.Join(), "died of SIGKILL; state is that of before cell 2");
}

TEST_F(RestoreTest, AfterAKillWhileNoCellRuns) {
  const int pid = std::stoi(Evaluate("import os; os.getpid()"));
  kill(pid, SIGKILL);
  // A cell that is sent before the death is known dies with the worker.
  CellOutcome next = Run("x");
  if (!next.ok()) next = Run("x");
  EXPECT_THAT(next, ResultIs("[1, 2]"));
}

TEST_F(RestoreTest, WhenACellThatHoldsTheInterpreterIsCancelled) {
  StartedCell cell(session(),
                   "x = None\nimport ctypes\nlibc = ctypes.PyDLL(None)\n"
                   "mutex = ctypes.create_string_buffer(64)\nlibc.pthread_mutex_lock(mutex)\n"
                   "import os\nprint(os.getpid(), 'ready')\n"
                   "while True:\n    try: libc.pthread_mutex_lock(mutex)\n"
                   "    except KeyboardInterrupt: pass");
  cell.WaitFor("ready");
  const int pid = std::stoi(cell.text());
  ASSERT_TRUE(Eventually([&] { return IsAsleep(pid); })) << "it does not wait in C";
  session().Interrupt();
  CellOutcome outcome = cell.Join();
  EXPECT_EQ(outcome.status, CellStatus::kCancelled);
  EXPECT_THAT(outcome.stdout_text(), HasSubstr("ready"));
  ExpectRestored(outcome,
                 "did not react to the interrupt and was killed; state is that of before cell 2");
}

TEST_F(RestoreTest, CanBeDoneAgainAndAgain) {
  for (int i = 0; i < 5; ++i) {
    CellOutcome outcome = Run("x.append(3)\nimport os\nos.abort()");
    ExpectRestored(outcome, "died of SIGABRT in <cell 2> line 3; state is that of before cell 2");
    Rewind(2);
  }
}

TEST_F(RestoreTest, ToTheSnapshotBeforeOneThatDoesNotWake) {
  Run("import os, time\n"
      "def hang():\n"
      "    while True:\n"
      "        try: time.sleep(987)\n"
      "        except BaseException: pass\n"
      "os.register_at_fork(after_in_child=hang)");
  EXPECT_EQ(Run("os._exit(3)").state_detail,
            "exited with code 3; state is that of before cell 2: cell 2 is undone");
  EXPECT_EQ(Evaluate("x"), "[1, 2]");
}

TEST_F(RestoreTest, ToASnapshotThatWasStopped) {
  const pid_t keeper = std::stoi(Evaluate("import os; os.getppid()"));
  Run("x.append(3)");
  // They have their name a moment after they were made.
  std::set<pid_t> before;
  ASSERT_TRUE(Eventually([&] {
    before = SnapshotsBelow(keeper);
    return before.size() == session().Snapshots()->kept.size();
  }));
  StartedCell cell(session(), "import time\nprint(os.getpid(), 'ready')\ntime.sleep(100)");
  cell.WaitFor("ready");
  std::set<pid_t> newest;
  EXPECT_TRUE(Eventually([&] {
    newest = SnapshotsBelow(keeper);
    for (const pid_t pid : before) newest.erase(pid);
    return newest.size() == 1;
  }));
  if (!newest.empty()) kill(*newest.begin(), SIGSTOP);
  kill(std::stoi(cell.text()), SIGKILL);
  EXPECT_EQ(cell.Join().state_detail, "died of SIGKILL; state is that of before cell 4");
  EXPECT_EQ(Evaluate("x"), "[1, 2, 3]");
}

TEST_F(RestoreTest, ToBeforeACellThatEndedTheMemoryCap) {
  if (kWorkerSanitized) GTEST_SKIP() << "shadow memory counts against the cap";
  ScratchDirectory directory;
  auto launch = LoopSession::Prepare(directory.path());
  ASSERT_TRUE(launch.ok()) << launch.status();
  launch->session.memory_cap = 256u << 20;
  launch->session.snapshots.policy = SnapshotPolicy::kAlways;
  LoopSession session(launch->session, directory.path());
  ASSERT_TRUE(session.Run("x = 1")->ok());
  auto refused = session.Run("y = bytearray(1 << 30)");
  ASSERT_TRUE(refused.ok() && refused->error);
  EXPECT_EQ(refused->error->ename, "MemoryError");
  // C code that does not look at what malloc returned.
  auto died = session.Run(
      "import ctypes\nlibc = ctypes.CDLL(None)\nlibc.malloc.restype = ctypes.c_void_p\n"
      "ctypes.memset(libc.malloc(ctypes.c_size_t(1 << 30)), 1, 8)");
  ASSERT_TRUE(died.ok()) << died.status();
  EXPECT_EQ(died->state, StateAfter::kRestored) << died->state_detail;
  EXPECT_EQ(session.Run("x")->result(), "1");
}

TEST_F(RestoreTest, NothingIsLeftWhenTheKeeperIsKilled) {
  const int keeper = std::stoi(Evaluate("import os; os.getppid()"));
  const int worker = std::stoi(Evaluate("os.getpid()"));
  kill(keeper, SIGKILL);
  ASSERT_TRUE(Eventually([&] { return kill(worker, 0) != 0; }));
  CellOutcome next = Run("'x' in globals()");
  EXPECT_THAT(next, ResultIs("False"));
  EXPECT_EQ(next.state, StateAfter::kFresh);
  EXPECT_EQ(next.state_detail,
            "the worker ended because its keeper was killed; this cell ran in a fresh session");
  // The fixture sees that the snapshots are gone too.
}

TEST_F(RestoreTest, OutputAfterItIsThatOfTheNewWorker) {
  Run("import os\nos.abort()");
  CellOutcome outcome =
      Run("import os, sys\nprint('ring')\nsys.stdout.flush()\n"
          "os.write(1, b'pipe\\n')\nos.system('echo child')");
  EXPECT_EQ(outcome.stdout_text(), "ring\npipe\nchild\n");
  EXPECT_THAT(outcome.background, ::testing::IsEmpty());
}

TEST_F(RestoreTest, InterruptsReachTheNewWorker) {
  Run("import os\nos.abort()");
  for (const char* code :
       {"print('ready')\nwhile True: pass", "print('ready')\nimport time\ntime.sleep(100)",
        "print('ready')\nimport asyncio\nawait asyncio.sleep(100)"}) {
    StartedCell cell(session(), code);
    cell.WaitFor("ready");
    session().Interrupt();
    CellOutcome outcome = cell.Join();
    EXPECT_THAT(outcome, Fails("KeyboardInterrupt")) << code;
    EXPECT_EQ(outcome.state, StateAfter::kKept) << code;
  }
}

TEST_F(RestoreTest, BringsBackWhatNoPickleCould) {
  Run(R"(
import asyncio, sqlite3, tempfile, threading, os, random
generator = (i * i for i in range(10)); next(generator); next(generator)
memory = sqlite3.connect(':memory:'); memory.execute('create table t (a)')
memory.execute('insert into t values (1)'); memory.commit()
path = os.path.join(tempfile.mkdtemp(), 'data.db')
disk = sqlite3.connect(path); disk.execute('create table t (a)')
disk.execute('insert into t values (7)'); disk.commit()
class Unpicklable:
    def __init__(self): self.lock = threading.Lock(); self.f = lambda: 42
thing = Unpicklable()
ticks = []
async def tick():
    while True:
        ticks.append(1)
        await asyncio.sleep(0.005)
task = asyncio.create_task(tick())
file = open(path + '.txt', 'w+'); file.write('one'); file.flush()
)");
  Run("import os\nfile.write('lost'); file.flush()\nrandom.random()\nos.abort()");
  EXPECT_EQ(Evaluate("next(generator)"), "4");
  EXPECT_EQ(Evaluate("memory.execute('select * from t').fetchall()"), "[(1,)]");
  EXPECT_EQ(Evaluate("disk.execute('insert into t values (8)'); disk.commit(); "
                     "disk.execute('select * from t').fetchall()"),
            "[(7,), (8,)]");
  EXPECT_EQ(Evaluate("thing.f(), thing.lock.locked()"), "(42, False)");
  EXPECT_EQ(Evaluate("n = len(ticks); await asyncio.sleep(0.1); len(ticks) > n, task.done()"),
            "(True, False)");
  EXPECT_EQ(Evaluate("file.tell()"), "3");
  Run("task.cancel(); import shutil; file.close(); disk.close(); "
      "shutil.rmtree(os.path.dirname(path))");
}

TEST_F(RestoreTest, TheNewWorkerKnowsItsProcessor) {
  Run("import ctypes, os\nlibc = ctypes.CDLL(None)\nprocessors = sorted(os.sched_getaffinity(0))\n"
      "def on_each():\n    for processor in processors:\n"
      "        os.sched_setaffinity(0, {processor})\n        yield libc.sched_getcpu()");
  for (int death = 0; death < 2; ++death) {
    EXPECT_EQ(Evaluate("list(on_each()) == processors"), "True");
    Run("os._exit(1)");
  }
  EXPECT_EQ(Evaluate("list(on_each()) == processors"), "True");
}

// In the system's Python, which is the one that ./test installs them for.
TEST(RestoreInSystemPythonTest, BringsBackArraysAndFrames) {
  absl::StatusOr<std::unique_ptr<Host>> host = Host::Start({.interpreter = "/usr/bin/python3"});
  ASSERT_TRUE(host.ok()) << host.status();
  absl::StatusOr<std::unique_ptr<Session>> session =
      (*host)->Open({.snapshots = SnapshotOptions{.policy = SnapshotPolicy::kAlways}});
  ASSERT_TRUE(session.ok()) << session.status();
  auto run = [&](std::string code) { return (*session)->Run(std::move(code)).value(); };
  if (!run("import numpy as np, pandas as pd").ok()) {
    GTEST_SKIP() << "numpy or pandas is not installed";
  }
  run("a = np.arange(100_000); f = pd.DataFrame({'a': a}); np.random.seed(1)");
  const std::optional<std::string> seeded =
      run("state = np.random.get_state()[1].sum(); state").result();
  ASSERT_TRUE(seeded.has_value());
  const CellOutcome died = run("a[:] = 0; f['a'] = 1; np.random.random(10); import os; os.abort()");
  EXPECT_EQ(died.state, StateAfter::kRestored) << ::testing::PrintToString(died);
  EXPECT_THAT(run("int(a.sum()), int(f['a'].sum())"), ResultIs("(4999950000, 4999950000)"));
  EXPECT_THAT(run("np.random.get_state()[1].sum()"), ResultIs(*seeded));
  EXPECT_THAT(run("float((np.ones((200, 200)) @ np.ones((200, 200))).sum())"),
              ResultIs("8000000.0"));
}

}  // namespace
}  // namespace cellar::testing
