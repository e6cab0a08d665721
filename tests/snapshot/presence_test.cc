// A sleeping snapshot is not noticed by the session that it was taken of; and what a snapshot
// cannot carry is named, and never waited for, in the session that was restored from it.
#include <string>

#include "tests/snapshot/snapshot_test.h"
#include "tests/testing/scratch_directory.h"

namespace cellar::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

// Its name is not known where the worker died before the copy had looked at the process table.
auto NamesTheChild(const std::string& name) {
  return ::testing::AnyOf(HasSubstr("(" + name + ")"),
                          HasSubstr("child processes that have ended"));
}

class PresenceTest : public SnapshotTest {
 protected:
  // Takes a snapshot here and goes on from it; returns what the restored session says of it.
  std::string Restore() {
    CellOutcome died = Run("import os\nos.abort()");
    EXPECT_EQ(died.state, StateAfter::kRestored) << ::testing::PrintToString(died);
    std::string notices;
    for (const std::string& notice : died.notices) notices += notice + "\n";
    return notices;
  }

  // A cell that must end by itself, within a second.
  CellOutcome RunBriefly(const std::string& code) {
    const absl::Time start = absl::Now();
    CellOutcome outcome = Run(code, {.timeout = kSlowness * absl::Seconds(5)});
    EXPECT_LT(absl::Now() - start, kSlowness * absl::Seconds(1)) << code;
    EXPECT_FALSE(outcome.timed_out) << code;
    return outcome;
  }
};

// --- beside the live session
// ----------------------------------------------------------------------

TEST_F(PresenceTest, AChildSeesTheEndOfItsInput) {
  Run("import subprocess\np = subprocess.Popen(['cat'], stdin=subprocess.PIPE, "
      "stdout=subprocess.PIPE)");
  EXPECT_THAT(RunBriefly("p.stdin.close(); p.wait()"), ResultIs("0"));
  EXPECT_THAT(RunBriefly("p.stdout.read()"), ResultIs("b''"));
}

TEST_F(PresenceTest, ALockEndsWithItsFile) {
  Run("import fcntl, tempfile, os\npath = tempfile.mktemp()\nf = open(path, 'w')\n"
      "fcntl.flock(f, fcntl.LOCK_EX)");
  EXPECT_THAT(RunBriefly("f.close()\ng = open(path, 'w')\n"
                         "fcntl.flock(g, fcntl.LOCK_EX | fcntl.LOCK_NB)\ng.close()\n"
                         "os.unlink(path)"),
              Succeeds());
}

TEST_F(PresenceTest, APortCanBeBoundAgain) {
  Run("import socket\ns = socket.socket()\ns.bind(('127.0.0.1', 0))\ns.listen()\n"
      "port = s.getsockname()[1]");
  EXPECT_THAT(RunBriefly("s.close()\nt = socket.socket()\nt.bind(('127.0.0.1', port))\n"
                         "t.listen()\nt.close()"),
              Succeeds());
}

TEST_F(PresenceTest, WaitFindsNoChild) {
  Run("import os, signal\nseen = []\nsignal.signal(signal.SIGCHLD, lambda *a: seen.append(1))");
  EXPECT_THAT(RunBriefly("os.wait()"), Fails("ChildProcessError"));
  EXPECT_EQ(Evaluate("seen"), "[]");
  EXPECT_EQ(Evaluate("import subprocess; subprocess.run(['true']).returncode, len(seen)"),
            "(0, 1)");
}

TEST_F(PresenceTest, AThreadInWaitIsNotWoken) {
  Run("import os, threading\nread, write = os.pipe()\npid = os.fork()\n"
      "if pid == 0: os.read(read, 1); os._exit(7)\n"
      "found = []\nt = threading.Thread(target=lambda: found.append(os.wait())); t.start()");
  Run("1");
  EXPECT_EQ(Evaluate("os.write(write, b'x'); t.join(); "
                     "found == [(pid, 7 << 8)], os.close(read), os.close(write)"),
            "(True, None, None)");
}

TEST_F(PresenceTest, TheOffsetOfAFileIsItsOwn) {
  Run("import tempfile, os\npath = tempfile.mktemp()\nf = open(path, 'wb+', buffering=0)\n"
      "f.write(b'abc')");
  Run("f.write(b'def')");
  Rewind();
  EXPECT_EQ(Evaluate("f.tell(), f.read()"), "(3, b'def')") << "the file itself is not undone";
  Run("f.close(); os.unlink(path)");
}

// --- in the restored session
// ----------------------------------------------------------------------

TEST_F(PresenceTest, ATemporaryFileWithoutANameIsStillThere) {
  Run("import tempfile\nf = tempfile.TemporaryFile('w+')\nf.write('abc')\nf.flush()");
  Run("import os; os._exit(1)");
  EXPECT_EQ(Evaluate("f.seek(0), f.read()"), "(0, 'abc')");
}

TEST_F(PresenceTest, AChildThatWasLostDidNotEndWell) {
  Run("import subprocess\nchild = subprocess.Popen(['sleep', '600'])\n"
      "ended = subprocess.Popen(['true'])\nended.wait();");
  Run("import os; os._exit(1)");
  EXPECT_EQ(Evaluate("child.poll(), child.wait(), ended.returncode"), "(-9, -9, 0)");
}

TEST_F(PresenceTest, ProcessesOfMultiprocessingThatWereLostDidNotEndWell) {
  Run("import multiprocessing, os, time\nfork = multiprocessing.get_context('fork')\n"
      "child = fork.Process(target=time.sleep, args=(600,))\nchild.start()\n"
      "ended = fork.Process(target=int)\nended.start()\nended.join()\n"
      "later = fork.Process(target=os._exit, args=(3,))");
  Run("os._exit(1)");
  EXPECT_EQ(
      Evaluate("child.join()\nchild.is_alive(), child.exitcode, ended.is_alive(), ended.exitcode"),
      "(False, -9, False, 0)");
  EXPECT_EQ(Evaluate("later.start()\nlater.join()\nlater.exitcode"), "3");
}

TEST_F(PresenceTest, ThreadsSocketsFilesAndChildrenAreNamed) {
  Run("import threading, socket, subprocess, time, tempfile, os\n"
      "threading.Thread(target=time.sleep, args=(1000,), name='sleeper', daemon=True).start()\n"
      "a, b = socket.socketpair()\n"
      "server = socket.socket(); server.bind(('127.0.0.1', 0)); server.listen()\n"
      "client = socket.create_connection(server.getsockname())\n"
      "p = subprocess.Popen(['sleep', '1000'])\n"
      "path = tempfile.mktemp(); f = open(path, 'w')\n"
      "from multiprocessing import shared_memory\n"
      "m = shared_memory.SharedMemory(create=True, size=4096)");
  Run("os.unlink(path); name = m.name");
  std::string notices = Restore();
  EXPECT_THAT(notices, AllOf(HasSubstr("the thread sleeper"), HasSubstr("a connected socket"),
                             HasSubstr("the connection to 127.0.0.1:"),
                             HasSubstr("the socket on 127.0.0.1:"), NamesTheChild("sleep"),
                             HasSubstr("open for writing"), HasSubstr("shared memory")));
  EXPECT_THAT(RunBriefly("a.recv(1)"), ResultIs("b''"));
  EXPECT_THAT(RunBriefly("client.sendall(b'x')"), Fails("BrokenPipeError"));
  EXPECT_THAT(RunBriefly("p.wait()"), Succeeds());
  Run("m.close(); m.unlink()");
}

TEST_F(PresenceTest, NothingIsNamedWhereThereIsNothing) {
  Run("x = 1");
  EXPECT_EQ(Restore(), "");
}

TEST_F(PresenceTest, APendingToThreadFails) {
  Run("import asyncio, time\ntask = asyncio.create_task(asyncio.to_thread(time.sleep, 1000))\n"
      "await asyncio.sleep(0.05)");
  Restore();
  EXPECT_THAT(RunBriefly("await task"), Fails("ThreadLost"));
  EXPECT_THAT(RunBriefly("await asyncio.to_thread(lambda: 5)"), ResultIs("5"));
}

TEST_F(PresenceTest, AThreadPoolStartsAnew) {
  Run("from concurrent.futures import ThreadPoolExecutor\nimport threading\n"
      "e = threading.Event()\npool = ThreadPoolExecutor(1)\n"
      "running = pool.submit(e.wait, 1000)\nqueued = pool.submit(lambda: 'done')");
  Restore();
  EXPECT_THAT(RunBriefly("running.result()"), Fails("ThreadLost"));
  EXPECT_THAT(RunBriefly("queued.result()"), ResultIs("'done'"));
  EXPECT_THAT(RunBriefly("list(pool.map(lambda x: x * x, range(3)))"), ResultIs("[0, 1, 4]"));
  EXPECT_THAT(RunBriefly("pool.shutdown()"), Succeeds());
}

TEST_F(PresenceTest, AnIdleThreadPoolStartsAnewToo) {
  Run("from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(2)\n"
      "pool.submit(int).result()");
  Restore();
  EXPECT_THAT(RunBriefly("pool.submit(lambda: 6).result()"), ResultIs("6"));
}

TEST_F(PresenceTest, AMultiprocessingPoolFails) {
  Run("import multiprocessing, time\npool = multiprocessing.get_context('fork').Pool(1)\n"
      "r = pool.apply_async(time.sleep, (1000,))\nm = pool.map_async(time.sleep, [1000] * 4)");
  Restore();
  EXPECT_THAT(RunBriefly("r.get()"), Fails("ThreadLost"));
  EXPECT_THAT(RunBriefly("m.get()"), Fails("ThreadLost"));
  EXPECT_THAT(RunBriefly("pool.apply(int)"), Fails("ValueError"));
}

TEST_F(PresenceTest, AProcessPoolFails) {
  Run("from concurrent.futures import ProcessPoolExecutor\nimport multiprocessing, time\n"
      "pool = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context('fork'))\n"
      "r = pool.submit(time.sleep, 1000)");
  Restore();
  EXPECT_THAT(RunBriefly("r.result()"), Fails("BrokenProcessPool"));
  EXPECT_THAT(RunBriefly("pool.submit(int)"), Fails("BrokenProcessPool"));
}

TEST_F(PresenceTest, ALockThatALostThreadHeldIsFree) {
  Run("import threading, time\nlock, rlock = threading.Lock(), threading.RLock()\n"
      "held = threading.Event()\n"
      "def hold():\n    with lock, rlock: held.set(); time.sleep(1000)\n"
      "t = threading.Thread(target=hold, daemon=True); t.start()\nheld.wait();");
  EXPECT_EQ(Evaluate("lock.locked()"), "True");
  Restore();
  EXPECT_THAT(RunBriefly("lock.acquire(), rlock.acquire(), t.join(), t.is_alive()"),
              ResultIs("(True, True, None, False)"));
}

TEST_F(PresenceTest, ALockOfAModuleOfTheTemplateThatALostThreadHeldIsFree) {
  Run("import asyncio.events, threading, time\nlock = asyncio.events._lock\n"
      "held = threading.Event()\n"
      "def hold():\n    with lock: held.set(); time.sleep(1000)\n"
      "t = threading.Thread(target=hold, daemon=True); t.start()\nheld.wait();");
  Restore();
  EXPECT_THAT(RunBriefly("lock.acquire(timeout=0.5)"), ResultIs("True"));
}

TEST_F(PresenceTest, ALockOfASessionWithoutThreadsStaysHeld) {
  Run("import threading\nlock = threading.Lock(); lock.acquire()");
  Restore();
  EXPECT_EQ(Evaluate("lock.locked()"), "True");
}

TEST_F(PresenceTest, NamesThatAreNotUtf8AreShownAndStopNoRestore) {
  ScratchDirectory scratch;
  ASSERT_TRUE(session().Set("scratch", scratch.path()).ok());
  Run("import mmap, os, shutil, socket, subprocess, threading\n"
      "folder = os.fsencode(scratch)\n"
      "file = open(folder + b'/file\\xff', 'wb+'); file.truncate(10)\n"
      "shared = mmap.mmap(file.fileno(), 10)\n"
      "listener = socket.socket(socket.AF_UNIX); listener.bind(folder + b'/socket\\xff')\n"
      "listener.listen()\n"
      "shutil.copy('/bin/sleep', folder + b'/child\\xff')\n"
      "child = subprocess.Popen([folder + b'/child\\xff', '1000'])\n"
      "thread = threading.Thread(target=threading.Event().wait, name='thread\\ud800', "
      "daemon=True)\n"
      "thread.start()\nx = 1");
  const std::string path = scratch.path();
  EXPECT_THAT(Restore(), AllOf(HasSubstr("what was written to " + path + "/file\uFFFD, "),
                               HasSubstr("the contents of shared memory " + path + "/file\uFFFD"),
                               HasSubstr("the socket on " + path + "/socket\uFFFD"),
                               NamesTheChild("child\uFFFD"), HasSubstr("the thread thread\uFFFD")));
  EXPECT_EQ(Evaluate("x"), "1");
}

TEST_F(PresenceTest, AsyncioProcessesAndServersEnd) {
  Run("import asyncio\n"
      "p = await asyncio.create_subprocess_exec('cat', stdin=-1, stdout=-1)\n"
      "server = await asyncio.start_server(lambda r, w: None, '127.0.0.1', 0)\n"
      "port = server.sockets[0].getsockname()[1]\n"
      "reader, writer = await asyncio.open_connection('127.0.0.1', port)");
  Restore();
  EXPECT_THAT(RunBriefly("await p.wait()"), ResultIs("255"));
  EXPECT_THAT(RunBriefly("await reader.read()"), ResultIs("b''"));
  EXPECT_THAT(RunBriefly("await asyncio.sleep(0.1)"), Succeeds());
  EXPECT_THAT(RunBriefly("r = await asyncio.create_subprocess_exec('true'); await r.wait()"),
              ResultIs("0"));
}

// --- on both sides
// --------------------------------------------------------------------------------

class OpenMpTest : public PresenceTest {
 protected:
  void SetUp() override {
    PresenceTest::SetUp();
    EXPECT_THAT(Run("import ctypes\nlibrary = ctypes.CDLL('" CELLAR_PARALLEL_SUM
                    "')\nlibrary.parallel_sum(1000, 4)"),
                ResultIs("499500"));
  }
};

TEST_F(OpenMpTest, ComputesInTheLiveSessionAndInTheRestoredOne) {
  EXPECT_THAT(RunBriefly("library.parallel_sum(2000, 4)"), ResultIs("1999000"));
  EXPECT_EQ(Restore(), "");
  EXPECT_THAT(RunBriefly("library.parallel_sum(3000, 4)"), ResultIs("4498500"));
  EXPECT_EQ(Restore(), "");
  EXPECT_THAT(RunBriefly("library.parallel_sum(1000, 3)"), ResultIs("499500"));
}

TEST_F(OpenMpTest, ComputesInABranch) {
  Branched branch = Branch();
  ASSERT_NE(branch.session, nullptr);
  absl::StatusOr<CellOutcome> computed =
      branch.session->Run("library.parallel_sum(2000, 4)", {.timeout = absl::Seconds(5)});
  ASSERT_TRUE(computed.ok()) << computed.status();
  EXPECT_THAT(*computed, ResultIs("1999000"));
  EXPECT_THAT(RunBriefly("library.parallel_sum(3000, 4)"), ResultIs("4498500"));
}

TEST_F(OpenMpTest, ComputesAfterThreadsHaveComputedToo) {
  Run("import threading\ndone = threading.Event()\n"
      "def compute():\n    library.parallel_sum(1000, 4); done.set(); threading.Event().wait()\n"
      "threading.Thread(target=compute, name='computer', daemon=True).start(); done.wait()");
  EXPECT_THAT(Restore(), HasSubstr("the thread computer"));
  EXPECT_THAT(RunBriefly("library.parallel_sum(2000, 4)"), ResultIs("1999000"));
}

}  // namespace
}  // namespace cellar::testing
