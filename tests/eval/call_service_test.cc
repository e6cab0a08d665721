#include "host/eval/call_service.h"

#include "host/eval/result_json.h"
#include "tests/testing/calls_test.h"

namespace cellar::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CallServiceTest : public CallsTest {};

constexpr char kSleep[] = "open('started', 'w').close()\nimport time; time.sleep(60)";

TEST_F(CallServiceTest, KeepsTheStateOfASessionFromCallToCall) {
  EXPECT_EQ(Value("a", "x = 1; x"), "1");
  EXPECT_EQ(Value("b", "'x' in globals()"), "False");
  EXPECT_EQ(Value("a", "x + 1"), "2");
}

TEST_F(CallServiceTest, RunsCallsOfOneSessionInOrderOfArrival) {
  std::vector<std::unique_ptr<Pending>> calls;
  calls.push_back(Submit({.session = "a", .cells = {{.code = "seen = []"}}}));
  for (int i = 0; i < 20; ++i) {
    // Those with a directory take a detour; they keep their places.
    calls.push_back(Submit({.session = "a",
                            .cwd = i % 2 == 0 ? directory_.path() : "",
                            .cells = {{.code = "seen.append(" + std::to_string(i) + ")"},
                                      {.code = "seen.append('-')"}}}));
  }
  for (auto& call : calls) ASSERT_TRUE(Finish(*call).ok());
  EXPECT_EQ(Value("a", "seen == [x for i in range(20) for x in (i, '-')]"), "True");
}

TEST_F(CallServiceTest, RunsDifferentSessionsInParallel) {
  // Each waits for what the other does.
  auto a = Submit({.session = "a",
                   .cells = {{.code = "import os, time\nopen('a', 'w').close()\n"
                                      "while not os.path.exists('b'): time.sleep(0.01)"}}});
  auto b = Submit({.session = "b",
                   .cells = {{.code = "import os, time\nopen('b', 'w').close()\n"
                                      "while not os.path.exists('a'): time.sleep(0.01)"}}});
  EXPECT_EQ(Finish(*a)->status, CallStatus::kOk);
  EXPECT_EQ(Finish(*b)->status, CallStatus::kOk);
}

TEST_F(CallServiceTest, ABurstOfNewSessionsCostsNobodyAnything) {
  constexpr int kBurst = 320;  // more than the template's socket holds
  Start({.max_sessions = kBurst + 1});
  EXPECT_EQ(Value("idle", "x = 'kept'; x"), "'kept'");
  std::vector<std::unique_ptr<Pending>> calls;
  for (int i = 0; i < kBurst; ++i) {
    calls.push_back(Submit({.session = absl::StrCat("new", i), .cells = {{.code = "6 * 7"}}}));
  }
  for (auto& call : calls) {
    const absl::StatusOr<CallResult> result = Finish(*call);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(ValueOf(*result), "42");
  }
  EXPECT_EQ(Value("idle", "x"), "'kept'");
}

TEST_F(CallServiceTest, BackgroundOutputIsInTheResultOfACallWhoseSessionIsClosed) {
  auto call = Submit({.session = "a",
                      .cells = {{.code = "import threading, time\n"
                                         "def tell():\n"
                                         "  while 'go' not in globals(): time.sleep(0.01)\n"
                                         "  print('from before')\n"
                                         "  open('told', 'w').close()\n"
                                         "threading.Thread(target=tell, daemon=True).start()"},
                                {.code = "go = 1\ntime.sleep(60)"}}});
  WaitForFile("told");
  bool closed = false;
  registry_->Close("a", [&] { closed = true; });
  const absl::StatusOr<CallResult> result = Finish(*call);
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->background.size(), 1u);
  EXPECT_EQ(result->background[0].text, "from before\n");
  RunUntil([&] { return closed; });
}

TEST_F(CallServiceTest, CancelsACallThatWaitsWithoutRunningIt) {
  auto running = Submit({.session = "a", .cells = {{.code = kSleep}}});
  WaitForFile("started");
  auto waiting = Submit({.session = "a", .cells = {{.code = "open('ran', 'w')"}}});
  EXPECT_TRUE(service_->Cancel(waiting->id));
  const absl::StatusOr<CallResult> result = Finish(*waiting);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->status, CallStatus::kCancelled);
  EXPECT_EQ(result->cells[0].status, CellRunStatus::kNotRun);
  EXPECT_FALSE(running->result.has_value());

  EXPECT_TRUE(service_->Cancel(running->id));
  const absl::StatusOr<CallResult> cancelled = Finish(*running);
  EXPECT_EQ(cancelled->status, CallStatus::kCancelled);
  EXPECT_THAT(cancelled->session_state, StateAfter::kKept);
  EXPECT_FALSE(service_->Cancel(running->id));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "ran"));
}

TEST_F(CallServiceTest, AClientThatCancelsAndLeavesDoesNotCostTheSessionItsState) {
  EXPECT_EQ(Value("a", "x = 1; x"), "1");
  auto running = Submit({.session = "a", .cells = {{.code = kSleep}}});
  WaitForFile("started");
  EXPECT_TRUE(service_->Cancel(running->id));
  service_->Abandon(running->id);
  EXPECT_EQ(Value("a", "x"), "1");
}

TEST_F(CallServiceTest, ACancelDuringTheGraceOfATimeOutDoesNotKill) {
  EXPECT_EQ(Value("a", "x = 1; x"), "1");
  auto running = Submit({.session = "a",
                         .cells = {{.code = "import os, time\n"
                                            "try: time.sleep(60)\n"
                                            "except KeyboardInterrupt:\n"
                                            "  open('started', 'w').close()\n"
                                            "  while not os.path.exists('go'): time.sleep(0.01)",
                                    .timeout = absl::Milliseconds(100)}}});
  WaitForFile("started");
  EXPECT_TRUE(service_->Cancel(running->id));
  std::ofstream(directory_ / "go") << "";
  EXPECT_EQ(Finish(*running)->session_state, StateAfter::kKept);
  EXPECT_EQ(Value("a", "x"), "1");
}

TEST_F(CallServiceTest, ACancelEndsACellWhosePythonDoesNotStart) {
  std::ofstream(directory_ / "sitecustomize.py") << "import time; time.sleep(60)";
  const auto short_grace = [&](Launch& launch) {
    launch.session.runtime.environment.push_back("PYTHONPATH=" + directory_.path());
    launch.session.interrupt_grace = absl::Milliseconds(200);
  };
  Start({}, short_grace);
  const absl::Time start = absl::Now();
  auto running = Submit({.session = "a", .cells = {{.code = "1"}}});
  RunUntil([&] { return registry_->Find("a") != nullptr && registry_->Find("a")->busy(); });
  EXPECT_TRUE(service_->Cancel(running->id));
  const absl::StatusOr<CallResult> result = Finish(*running);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->status, CallStatus::kCancelled);
  EXPECT_LT(absl::Now() - start, absl::Seconds(20));
}

TEST_F(CallServiceTest, TheDisplaysOfAllCellsOfACallShareItsResult) {
  const std::string megabyte = "display({'image/png': 'x' * 900_000}, raw=True)\n";
  std::string cell;
  for (int i = 0; i < 10; ++i) cell += megabyte;
  Call call{.session = "a"};
  for (int i = 0; i < 5; ++i) call.cells.push_back({.code = cell});
  const absl::StatusOr<CallResult> result = Run(std::move(call));
  ASSERT_TRUE(result.ok()) << result.status();
  uint64_t bytes = 0;
  size_t outputs = 0;
  for (const CellResult& done : result->cells) {
    outputs += done.outcome.outputs.size();
    for (const CellOutput& output : done.outcome.outputs) bytes += DataBytes(output);
  }
  EXPECT_EQ(outputs, 50u) << "what has no room in the result is in a file, and named";
  EXPECT_LT(bytes, kResultRoom + (1u << 20));
}

// Cancels a call as soon as its first cell has been given to the session.
class EagerCanceller : public CallObserver {
 public:
  EagerCanceller(EventLoop& loop, std::function<void()> cancel)
      : loop_(loop), cancel_(std::move(cancel)) {}
  void OnCellStarted(size_t, const CallCell&) override { loop_.Post(cancel_); }

 private:
  EventLoop& loop_;
  std::function<void()> cancel_;
};

// Cancels a call just before its first cell, and remembers what it has heard.
class EarlyCanceller : public CallObserver {
 public:
  explicit EarlyCanceller(std::function<void()> cancel) : cancel_(std::move(cancel)) {}
  void OnCellStarted(size_t, const CallCell&) override { cancel_(); }
  void OnBackgroundText(Stream, std::string_view text) override { heard_ += text; }
  const std::string& heard() const { return heard_; }

 private:
  std::function<void()> cancel_;
  std::string heard_;
};

TEST_F(CallServiceTest, WhatACallHearsIsInItsResultThoughNoneOfItsCellsRan) {
  auto before = Submit({.session = "a",
                        .cells = {{.code = "import threading, time\n"
                                           "def tell():\n"
                                           "  time.sleep(0.1)\n"
                                           "  print('from before')\n"
                                           "  time.sleep(0.2)\n"
                                           "  open('told', 'w').close()\n"
                                           "threading.Thread(target=tell, daemon=True).start()"}}});
  ASSERT_TRUE(Finish(*before).ok());
  WaitForFile("told");
  std::unique_ptr<Pending> call;
  EarlyCanceller canceller([&] { EXPECT_TRUE(service_->Cancel(call->id)); });
  call = Submit({.session = "a", .cells = {{.code = "1"}}}, &canceller);
  const absl::StatusOr<CallResult> result = Finish(*call);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->cells[0].status, CellRunStatus::kNotRun);
  EXPECT_EQ(canceller.heard(), "from before\n");
  ASSERT_EQ(result->background.size(), 1u);
  EXPECT_EQ(result->background[0].text, canceller.heard());
}

TEST_F(CallServiceTest, ACancelReachesACellThatWaitsForASnapshot) {
  Start({}, [](Launch& launch) { launch.session.snapshots.policy = SnapshotPolicy::kAlways; });
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(Value("a", "x = 1; x"), "1");
    std::unique_ptr<Pending> call;
    EagerCanceller canceller(*loop_, [&] { EXPECT_TRUE(service_->Cancel(call->id)); });
    call = Submit({.session = "a", .cells = {{.code = kSleep}}}, &canceller);
    const absl::StatusOr<CallResult> result = Finish(*call);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->status, CallStatus::kCancelled);
    EXPECT_EQ(result->session_state, StateAfter::kKept);
    EXPECT_EQ(Value("a", "x"), "1");
  }
}

TEST_F(CallServiceTest, ACancelReachesACellThatWaitsBehindBranches) {
  ASSERT_TRUE(Run("a",
                  "import asyncio, time\n"
                  "def hold():\n"
                  "  open('held', 'w').close()\n"
                  "  time.sleep(0.5)\n"
                  "_ = asyncio.get_running_loop().call_later(0.01, hold)")
                  .ok());
  WaitForFile("held");
  int branches = 0;
  for (const char* id : {"b", "c"}) {
    registry_->Branch("a", {.id = id}, [&](const absl::StatusOr<Standing>&) { ++branches; });
  }
  auto call = Submit({.session = "a", .cells = {{.code = "open('ran', 'w')"}}});
  const absl::Time later = absl::Now() + absl::Milliseconds(50);
  RunUntil([&] { return absl::Now() > later; });
  EXPECT_EQ(branches, 0);
  EXPECT_TRUE(service_->Cancel(call->id));
  EXPECT_EQ(Finish(*call)->status, CallStatus::kCancelled);
  RunUntil([&] { return branches == 2; });
  EXPECT_FALSE(std::filesystem::exists(directory_ / "ran"));
}

TEST_F(CallServiceTest, LeavesALongCallToRunInTheBackground) {
  auto call = Submit({.session = "a",
                      .background_after = absl::Milliseconds(50),
                      .cells = {{.code = "print('first')"},
                                {.code = "print('second', flush=True)\nimport os, time\n"
                                         "while not os.path.exists('go'): time.sleep(0.01)"},
                                {.code = "6 * 7"}}});
  const absl::StatusOr<CallResult> left = Finish(*call);
  ASSERT_TRUE(left.ok()) << left.status();
  EXPECT_EQ(left->status, CallStatus::kRunning);
  EXPECT_EQ(left->handle, HandleOf(call->id));
  EXPECT_THAT(ResultToJson(*left, false), HasSubstr("the call is still running; its handle is"));

  RunUntil([&] {
    const absl::StatusOr<CallResult> tail = service_->Tail(call->id);
    return tail.ok() && tail->cells[1].outcome.stdout_text() == "second\n";
  });
  EXPECT_EQ(service_->Tail(call->id)->cells[0].status, CellRunStatus::kComplete);
  EXPECT_EQ(service_->Tail(call->id)->cells[2].status, CellRunStatus::kPending);

  Pending early;
  const auto keep = [](Pending& pending) {
    return [&pending](absl::StatusOr<CallResult> result) { pending.result = std::move(result); };
  };
  service_->Wait(call->id, absl::Milliseconds(10), keep(early));
  EXPECT_EQ(Finish(early)->status, CallStatus::kRunning);

  std::ofstream(directory_ / "go") << "";
  Pending late;
  service_->Wait(*CallOf(left->handle), absl::Seconds(20), keep(late));
  const absl::StatusOr<CallResult> result = Finish(late);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->status, CallStatus::kOk);
  EXPECT_EQ(ValueOf(*result), "42");

  EXPECT_EQ(ValueOf(*service_->Tail(call->id)), "42");
  EXPECT_FALSE(service_->HasUnaskedResult(absl::Hours(1)));
  EXPECT_FALSE(CallOf("call-x").ok());
}

TEST_F(CallServiceTest, AResultIsKeptWhenTheOneWhoWaitedForItHasGone) {
  auto call = Submit({.session = "a",
                      .background_after = absl::ZeroDuration(),
                      .cells = {{.code = "import os, time\n"
                                         "while not os.path.exists('go'): time.sleep(0.01)\n42"}}});
  EXPECT_EQ(Finish(*call)->status, CallStatus::kRunning);
  bool is_told = false;
  service_->StopWaiting(service_->Wait(call->id, absl::Seconds(20),
                                       [&](const absl::StatusOr<CallResult>&) { is_told = true; }));
  std::ofstream(directory_ / "go") << "";
  RunUntil([&] { return service_->Tail(call->id)->status == CallStatus::kOk; });
  EXPECT_EQ(ValueOf(*service_->Tail(call->id)), "42");
  EXPECT_FALSE(is_told);
}

TEST_F(CallServiceTest, TheResultsThatAreForgottenAreThoseThatEndedFirst) {
  const auto leave = [&](const std::string& session, const std::string& code) {
    auto call = Submit(
        {.session = session, .background_after = absl::ZeroDuration(), .cells = {{.code = code}}});
    EXPECT_EQ(Finish(*call)->status, CallStatus::kRunning);
    return call->id;
  };
  const auto is_over = [&](CallId id) {
    const absl::StatusOr<CallResult> so_far = service_->Tail(id);
    return !so_far.ok() || so_far->status != CallStatus::kRunning;
  };
  const CallId slow =
      leave("slow", "import os, time\nwhile not os.path.exists('go'): time.sleep(0.01)\n'slow'");
  std::vector<CallId> quick;
  for (int i = 0; i < 64; ++i) {
    quick.push_back(leave("quick", std::to_string(i)));
    RunUntil([&] { return is_over(quick.back()); });
  }
  EXPECT_TRUE(service_->HasUnaskedResult(absl::Hours(1)));
  std::ofstream(directory_ / "go") << "";
  RunUntil([&] { return is_over(slow); });
  EXPECT_EQ(ValueOf(*service_->Tail(slow)), "'slow'");
  EXPECT_FALSE(service_->Tail(quick.front()).ok());
  EXPECT_EQ(ValueOf(*service_->Tail(quick[1])), "1");
}

TEST_F(CallServiceTest, ACallOfNoParentIsRefusedUnlessItIsAbandonedFirst) {
  const Call call = {.session = "a", .parent = "call-99", .cells = {{.code = "1"}}};
  auto abandoned = Submit(call);
  service_->Abandon(abandoned->id);
  EXPECT_EQ(Run(call).status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(abandoned->result.has_value());
  // Not even by one that guesses its own name.
  const Call own = {
      .session = "a", .parent = HandleOf(abandoned->id + 2), .cells = {{.code = "1"}}};
  EXPECT_EQ(Run(own).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(CallServiceTest, CancelsACallInTheBackground) {
  auto call = Submit(
      {.session = "a", .background_after = absl::ZeroDuration(), .cells = {{.code = kSleep}}});
  EXPECT_EQ(Finish(*call)->status, CallStatus::kRunning);
  WaitForFile("started");
  EXPECT_TRUE(service_->Cancel(call->id));
  RunUntil([&] { return service_->Tail(call->id)->status == CallStatus::kCancelled; });
}

TEST_F(CallServiceTest, AnAbandonedCallIsCancelledAndNobodyHearsOfIt) {
  auto call = Submit({.session = "a", .cells = {{.code = kSleep}}});
  WaitForFile("started");
  service_->Abandon(call->id);
  EXPECT_EQ(Value("a", "1"), "1");
  EXPECT_FALSE(call->result.has_value());
}

TEST_F(CallServiceTest, RefusesANestedCallOnTheSessionThatWaitsForIt) {
  auto outer = Submit({.session = "a", .cells = {{.code = kSleep}}});
  WaitForFile("started");
  const absl::StatusOr<CallResult> nested =
      Run({.session = "a", .parent = HandleOf(outer->id), .cells = {{.code = "1"}}});
  EXPECT_EQ(nested.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(nested.status().message(), "session is held by the cell that waits for you");
  // Elsewhere it runs.
  EXPECT_TRUE(Run({.session = "b", .parent = HandleOf(outer->id), .cells = {{.code = "1"}}}).ok());
  service_->Cancel(outer->id);
  (void)Finish(*outer);
  EXPECT_EQ(Run({.session = "a", .parent = HandleOf(outer->id), .cells = {{.code = "1"}}})
                .status()
                .code(),
            absl::StatusCode::kNotFound);
}

TEST_F(CallServiceTest, RefusesTheNestedCallThatWouldCloseACircle) {
  auto a = Submit({.session = "a",
                   .cells = {{.code = "open('a', 'w').close()\n"
                                      "import time; time.sleep(60)"}}});
  auto b = Submit({.session = "b",
                   .cells = {{.code = "open('b', 'w').close()\n"
                                      "import time; time.sleep(60)"}}});
  WaitForFile("a");
  WaitForFile("b");
  auto a_to_b = Submit({.session = "b", .parent = HandleOf(a->id), .cells = {{.code = "1"}}});
  const absl::StatusOr<CallResult> b_to_a =
      Run({.session = "a", .parent = HandleOf(b->id), .cells = {{.code = "1"}}});
  EXPECT_THAT(b_to_a.status().message(), "session is held by the cell that waits for you");
  service_->Cancel(b->id);
  EXPECT_EQ(Finish(*a_to_b)->status, CallStatus::kOk);
  service_->Cancel(a->id);
  (void)Finish(*a);
}

TEST_F(CallServiceTest, VariablesAndDirectoryOfACallReachItsCells) {
  const std::string folder = MakeDirectory("folder");
  EXPECT_EQ(Value("a", "import os; os.environ.get('A', '-')"), "'-'");
  absl::StatusOr<CallResult> result =
      Run({.session = "a",
           .environment = {{"A", "1"}, {"HOME", std::nullopt}},
           .cells = {{.code = "os.environ['A'], 'HOME' in os.environ"}}});
  EXPECT_EQ(ValueOf(*result), "('1', False)");

  const std::string where = "import os, sys; [os.getcwd(), sys.path[0]] == ['" + folder + "'] * 2";
  result =
      Run({.session = "a", .cwd = folder, .cells = {{.code = where}, {.code = "os.chdir('/')"}}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->cells[0].outcome.result(), "True");
  // The call names the directory again, whatever its cells did meanwhile.
  result = Run({.session = "a", .cwd = folder, .cells = {{.code = where}}});
  EXPECT_EQ(ValueOf(*result), "True");
  // Variables also outlive the worker that they were given to.
  (void)Run({.session = "a", .cwd = folder, .environment = {{"B", "2"}}, .cells = {{.code = "1"}}});
  (void)Run("a", "os._exit(1)");
  EXPECT_EQ(Value("a", "import os; os.environ['B']"), "'2'");
}

TEST_F(CallServiceTest, ADirectoryThatIsGoneIsAnError) {
  EXPECT_EQ(Run({.session = "a", .cwd = "/no/such", .cells = {{.code = "1"}}}).status().code(),
            absl::StatusCode::kNotFound);
  std::ofstream(directory_ / "file") << "";
  EXPECT_THAT(Run({.session = "a", .cwd = directory_ / "file", .cells = {{.code = "1"}}})
                  .status()
                  .message(),
              HasSubstr("not a directory"));
}

TEST_F(CallServiceTest, ResetsASessionInItsTurn) {
  EXPECT_EQ(Value("a", "x = 1; x"), "1");
  int resets = 0;
  for (int i = 0; i < 3; ++i) {
    service_->Reset({.id = "a"}, [&](absl::Status status) { resets += status.ok() ? 1 : 100; });
  }
  EXPECT_EQ(Value("a", "'x' in globals()"), "False");
  EXPECT_EQ(resets, 3);
}

TEST_F(CallServiceTest, AResetThatIsWithdrawnBeforeItsTurnChangesNothing) {
  EXPECT_EQ(Value("a", "x = 1; x"), "1");
  const CallId running = service_->Submit({.session = "a", .cells = {{.code = "x = 2"}}}, nullptr,
                                          [](absl::StatusOr<CallResult>) {});
  EXPECT_NE(running, 0);
  absl::Status status;
  const TicketId reset = service_->Reset({.id = "a"}, [&](absl::Status said) { status = said; });
  EXPECT_TRUE(registry_->Withdraw(reset));
  EXPECT_EQ(Value("a", "x"), "2");
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace cellar::host
