// Hosts and sessions as a program with threads of its own uses them.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "cellar/cellar.h"
#include "cellar/session_processes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/leftovers.h"
#include "tests/testing/sanitized.h"

namespace cellar {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;

class SessionTest : public LeavesNothing {
 protected:
  void SetUp() override { StartHost({}); }

  void TearDown() override {
    session_.reset();
    host_.reset();
    LeavesNothing::TearDown();
  }

  void StartHost(HostOptions options) {
    session_.reset();
    host_.reset();
    auto host = Host::Start(std::move(options));
    ASSERT_TRUE(host.ok()) << host.status();
    host_ = *std::move(host);
    session_ = Open();
  }

  // Without snapshots: whether one was taken in time would depend on the machine.
  std::unique_ptr<Session> Open(SessionOptions options = {
                                    .snapshots = SnapshotOptions{.policy = SnapshotPolicy::kOff}}) {
    auto session = host_->Open(std::move(options));
    EXPECT_TRUE(session.ok()) << session.status();
    return session.ok() ? *std::move(session) : nullptr;
  }

  CellOutcome Run(const std::string& code, RunOptions options = {}) {
    auto outcome = session_->Run(code, options);
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    return outcome.ok() ? *std::move(outcome) : CellOutcome{};
  }

  std::unique_ptr<Host> host_;
  std::unique_ptr<Session> session_;
};

// Says that it runs in one write, so that an interrupt cannot come in the middle of it.
constexpr char kEndlessCell[] = "print('ready\\n', end='', flush=True)\nwhile True: pass";

// Runs kEndlessCell on a thread of its own; constructed when the cell runs.
class EndlessCell : private CellObserver {
 public:
  explicit EndlessCell(Session& session) : thread_([this, &session] { Run(session); }) {
    running_.WaitForNotification();
  }
  absl::StatusOr<CellOutcome> Join() {
    thread_.join();
    return *std::move(outcome_);
  }

 private:
  void Run(Session& session) {
    outcome_ = session.Run(kEndlessCell, {.timeout = absl::ZeroDuration(), .observer = this});
    // It could not be run: the test is not to wait for ever.
    if (!running_.HasBeenNotified()) running_.Notify();
  }
  void OnText(Stream, std::string_view) override { running_.Notify(); }

  absl::Notification running_;
  std::optional<absl::StatusOr<CellOutcome>> outcome_;
  std::thread thread_;
};

// Of a cell that ran when its session was closed.
MATCHER(WasCutOffByTheEnd, "") {
  return arg.ok() && arg->status == CellStatus::kCancelled && arg->state == StateAfter::kLost;
}

// Of a call made while another thread closes the session: cancelled, or refused if it came too
// late.
auto IsCutOff() {
  return AnyOf(absl::StatusCode::kCancelled, absl::StatusCode::kFailedPrecondition);
}

TEST_F(SessionTest, KeepsStateFromCellToCell) {
  Run("x = 20");
  EXPECT_THAT(Run("x + 1").result(), Optional(std::string("21")));
}

TEST_F(SessionTest, ServesOneThreadInTheOrderOfItsCalls) {
  Run("seen = []");
  for (int i = 0; i < 50; ++i) Run(absl::StrCat("seen.append(", i, ")"));
  EXPECT_THAT(Run("seen == list(range(50))").result(), Optional(std::string("True")));
}

TEST_F(SessionTest, RunsOneCellAtATimeForManyThreads) {
  Run("import time\ninside = 0\ncount = 0");
  std::atomic<int> completed = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 10; ++j) {
        auto outcome = session_->Run(
            "assert inside == 0\ninside += 1\ntime.sleep(0.001)\ninside -= 1\ncount += 1");
        if (outcome.ok() && outcome->ok()) ++completed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(completed, 80);
  EXPECT_THAT(Run("count").result(), Optional(std::string("80")));
}

TEST_F(SessionTest, RunsDifferentSessionsAtTheSameTime) {
  auto other = Open();
  EndlessCell endless(*session_);
  auto outcome = other->Run("6 * 7");
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(outcome->result(), Optional(std::string("42")));
  session_->Interrupt();
  EXPECT_TRUE(endless.Join().ok());
}

TEST_F(SessionTest, ShowsOutputToTheObserverWhileTheCellRuns) {
  class Collector : public CellObserver {
   public:
    void OnText(Stream stream, std::string_view text) override {
      (stream == Stream::kStdout ? out : err) += text;
    }
    std::string out, err;
  } collector;
  Run("import sys\nprint('to out')\nprint('to err', file=sys.stderr)", {.observer = &collector});
  EXPECT_EQ(collector.out, "to out\n");
  EXPECT_EQ(collector.err, "to err\n");
}

TEST_F(SessionTest, InterruptFromAnotherThreadKeepsTheState) {
  Run("x = 5");
  EndlessCell endless(*session_);
  session_->Interrupt();
  absl::StatusOr<CellOutcome> outcome = endless.Join();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->status, CellStatus::kCancelled);
  EXPECT_EQ(outcome->stdout_text(), "ready\n");
  EXPECT_EQ(outcome->state, StateAfter::kKept);
  EXPECT_THAT(Run("x").result(), Optional(std::string("5")));
}

TEST_F(SessionTest, InterruptWithoutACellDoesNothing) {
  session_->Interrupt();
  EXPECT_TRUE(Run("1").ok());
}

TEST_F(SessionTest, InterruptWhileTheWorkerIsBeingMadeDoesNotEndIt) {
  Run("1");  // the template is up
  for (int i = 0; i < 20; ++i) {
    session_ = Open();
    std::thread interrupting([&] {
      absl::SleepFor(i * absl::Microseconds(500));  // another moment of its making each time
      session_->Interrupt();
    });
    // The time-out is for an interrupt that came before the cell.
    CellOutcome outcome = Run("while True: pass", {.timeout = absl::Seconds(1)});
    EXPECT_EQ(outcome.status, CellStatus::kCancelled);
    EXPECT_EQ(outcome.state, StateAfter::kKept);
    interrupting.join();
  }
}

TEST_F(SessionTest, TimeoutEndsTheCell) {
  CellOutcome outcome = Run("while True: pass", {.timeout = absl::Milliseconds(100)});
  EXPECT_EQ(outcome.status, CellStatus::kCancelled);
  EXPECT_TRUE(outcome.timed_out);
}

TEST_F(SessionTest, AnInfiniteTimeoutIsNone) {
  EXPECT_TRUE(Run("import time\ntime.sleep(0.05)", {.timeout = absl::InfiniteDuration()}).ok());
}

TEST_F(SessionTest, KillsACellThatIgnoresTheInterruptAfterTheGraceOfTheHost) {
  StartHost({.interrupt_grace = absl::Milliseconds(200)});
  Run("x = 1");  // the worker is up, so that the time-out is that of the cell alone
  CellOutcome outcome =
      Run("import time\nwhile True:\n  try: time.sleep(60)\n  except BaseException: pass",
          {.timeout = absl::Milliseconds(100)});
  EXPECT_EQ(outcome.status, CellStatus::kCancelled);
  EXPECT_EQ(outcome.state, StateAfter::kLost);
  EXPECT_THAT(Run("'x' in globals()").result(), Optional(std::string("False")));
}

TEST_F(SessionTest, BlockingCallsFromAnObserverFailInsteadOfWaitingForThemselves) {
  class Caller : public CellObserver {
   public:
    Caller(Host& host, Session& session) : host_(host), session_(session) {}
    void OnText(Stream, std::string_view) override {
      codes.assign({session_.Run("1").status().code(), session_.Set("x", 1).code(),
                    session_.Get("x").status().code(), host_.Open().status().code()});
      session_.Interrupt();
    }
    std::vector<absl::StatusCode> codes;

   private:
    Host& host_;
    Session& session_;
  } caller(*host_, *session_);
  CellOutcome outcome = Run(kEndlessCell, {.observer = &caller});
  EXPECT_EQ(outcome.status, CellStatus::kCancelled);
  constexpr absl::StatusCode kRefused = absl::StatusCode::kFailedPrecondition;
  EXPECT_THAT(caller.codes, ElementsAre(kRefused, kRefused, kRefused, kRefused));
}

TEST_F(SessionTest, CloseWhileACellRunsCancelsIt) {
  EndlessCell endless(*session_);
  session_->Close();
  EXPECT_THAT(endless.Join(), WasCutOffByTheEnd());
}

TEST_F(SessionTest, CloseCancelsWhatOtherThreadsWaitFor) {
  EndlessCell endless(*session_);
  std::vector<std::thread> waiting;
  for (int i = 0; i < 4; ++i) {
    waiting.emplace_back([&] { EXPECT_THAT(session_->Run("1").status().code(), IsCutOff()); });
  }
  session_->Close();
  for (std::thread& thread : waiting) thread.join();
  EXPECT_THAT(endless.Join(), WasCutOffByTheEnd());
}

TEST_F(SessionTest, ASessionThatWasNeverUsedClosesAtOnce) {
  Run("1");  // the template is up
  auto unused = Open();
  const absl::Time start = absl::Now();
  unused->Close();
  EXPECT_LT(absl::Now() - start, kSlowness * absl::Milliseconds(500));
}

TEST_F(SessionTest, CloseCancelsAValueThatABusyWorkerCannotGive) {
  Run("import asyncio, time\nasyncio.get_running_loop().call_soon(time.sleep, 60)");
  std::thread waiting([&] { EXPECT_THAT(session_->Get("asyncio").status().code(), IsCutOff()); });
  session_->Close();
  waiting.join();
}

TEST_F(SessionTest, CloseFromAnObserverDoesNotWaitForItself) {
  class Closer : public CellObserver {
   public:
    explicit Closer(Session& session) : session_(session) {}
    void OnText(Stream, std::string_view) override { session_.Close(); }

   private:
    Session& session_;
  } closer(*session_);
  EXPECT_THAT(session_->Run(kEndlessCell, {.observer = &closer}), WasCutOffByTheEnd());
}

TEST_F(SessionTest, AClosedSessionRefusesCalls) {
  session_->Close();
  session_->Close();
  session_->Interrupt();
  EXPECT_EQ(session_->Run("1").status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(session_->Set("x", 1).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(SessionTest, CloseEndsWhatCellsStarted) {
  SessionProcesses processes;
  Run("import subprocess\np = subprocess.Popen(['sleep', '100'], start_new_session=True)");
  session_->Close();
  EXPECT_THAT(processes.LeftAfter(kSlowness * absl::Milliseconds(500)), IsEmpty());
}

TEST_F(SessionTest, ASessionOutlivesItsHostAndRefusesCalls) {
  Run("x = 1");
  host_.reset();
  EXPECT_EQ(session_->Run("x").status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(session_->Get("x").status().code(), absl::StatusCode::kFailedPrecondition);
  session_->Interrupt();
  session_->Close();
}

TEST_F(SessionTest, AHostDestroyedWhileACellRunsCancelsTheCell) {
  auto other = Open();
  EndlessCell endless(*session_);
  host_.reset();
  EXPECT_THAT(endless.Join(), WasCutOffByTheEnd());
}

TEST_F(SessionTest, AHostWhoseSessionWasNeverUsedLeavesNothing) { session_.reset(); }

TEST_F(SessionTest, TheNextCellRunsInAFreshWorkerAfterADeath) {
  Run("x = 1");
  CellOutcome outcome = Run("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)");
  EXPECT_EQ(outcome.status, CellStatus::kError);
  EXPECT_EQ(outcome.state, StateAfter::kLost);
  CellOutcome next = Run("'x' in globals()");
  EXPECT_THAT(next.result(), Optional(std::string("False")));
  EXPECT_EQ(next.state, StateAfter::kFresh);
}

TEST_F(SessionTest, TakesDirectoryPathAndEnvironmentFromItsOptions) {
  session_ =
      Open({.cwd = "/usr/..", .sys_path = {"/somewhere"}, .environment = {{"GREETING", "hi"}}});
  EXPECT_THAT(
      Run("import os, sys\nos.getcwd(), '/somewhere' in sys.path, os.environ['GREETING']").result(),
      Optional(std::string("('/', True, 'hi')")));
}

TEST_F(SessionTest, PreloadsAreImportedOnce) {
  session_ = Open({.preload = {"decimal"}});
  EXPECT_THAT(Run("import sys\n'decimal' in sys.modules").result(), Optional(std::string("True")));
}

TEST_F(SessionTest, BadOptionsAreNamed) {
  absl::Status no_directory = host_->Open({.cwd = "/no/such/place"}).status();
  EXPECT_THAT(std::string(no_directory.message()), HasSubstr("/no/such/place"));
  absl::Status no_name = host_->Open({.environment = {{"A=B", "1"}}}).status();
  EXPECT_EQ(no_name.code(), absl::StatusCode::kInvalidArgument);
  absl::Status no_python = Host::Start({.interpreter = "/no/such/python"}).status();
  EXPECT_THAT(std::string(no_python.message()), HasSubstr("/no/such/python"));
  absl::Status no_worker = Host::Start({.worker_program = "/no/such/worker"}).status();
  EXPECT_THAT(std::string(no_worker.message()), HasSubstr("/no/such/worker"));
}

TEST_F(SessionTest, AWorkerProgramThatIsNoneFailsTheFirstCell) {
  auto host = Host::Start({.worker_program = "/bin/true"});
  ASSERT_TRUE(host.ok()) << host.status();
  auto session = (*host)->Open();
  absl::Status status = session.ok() ? (*session)->Run("1").status() : session.status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
}

TEST_F(SessionTest, ItsThreadsTakeNoSignalsOfTheProgram) {
  // Delivered to a thread that does not block it: only this one is left.
  static std::atomic<std::thread::id> handled_on;
  handled_on = std::thread::id();
  struct sigaction action = {}, before;
  action.sa_handler = [](int) { handled_on = std::this_thread::get_id(); };
  sigaction(SIGUSR1, &action, &before);
  sigset_t usr1, old;
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &usr1, &old);
  kill(getpid(), SIGUSR1);
  Run("1");
  EXPECT_EQ(handled_on.load(), std::thread::id());
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  EXPECT_EQ(handled_on.load(), std::this_thread::get_id());
  sigaction(SIGUSR1, &before, nullptr);
}

}  // namespace
}  // namespace cellar
