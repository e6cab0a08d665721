#include "host/session/registry.h"

#include <sys/resource.h>

#include <csignal>

#include "tests/testing/calls_test.h"
#include "tests/testing/process_stat.h"
#include "tests/testing/sanitized.h"

namespace cellar::host {
namespace {

using cellar::testing::StatOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

constexpr char kHold[] =
    "import os, time\nopen('started', 'w').close()\n"
    "while not os.path.exists('go'): time.sleep(0.01)";

class RegistryTest : public CallsTest {
 protected:
  void LetGo() { std::ofstream(directory_ / "go") << ""; }
  absl::StatusOr<Standing> Branch(const std::string& id, const std::string& branch,
                                  std::optional<uint32_t> before_cell = std::nullopt) {
    std::optional<absl::StatusOr<Standing>> branched;
    registry_->Branch(id, {.before_cell = before_cell, .id = branch},
                      [&](absl::StatusOr<Standing> standing) { branched = std::move(standing); });
    RunUntil([&] { return branched.has_value(); });
    return branched.value_or(absl::DeadlineExceededError("no answer"));
  }
  std::vector<std::string> OpenIds() {
    std::vector<std::string> ids;
    for (const SessionInfo& info : List()) ids.push_back(info.key.id);
    return ids;
  }
};

TEST_F(RegistryTest, ADirectoryMakesAnotherSessionAndNoneFindsTheLastOne) {
  const std::string one = MakeDirectory("one");
  const std::string two = MakeDirectory("two");
  std::filesystem::create_symlink(one, directory_ / "link");
  const auto run_in = [&](const std::string& cwd, const std::string& code) {
    return *Run({.session = "work", .cwd = cwd, .cells = {{.code = code}}});
  };
  const auto value_in = [&](const std::string& cwd, const std::string& code) {
    return ValueOf(run_in(cwd, code));
  };
  EXPECT_EQ(value_in(one, "x = 'one'; x"), "'one'");
  const CallResult other = run_in(two, "'x' in globals()");
  EXPECT_EQ(ValueOf(other), "False");
  EXPECT_EQ(other.session_state, StateAfter::kFresh);
  EXPECT_THAT(other.session_reason, StartsWith("another session of this name is open, in " +
                                               std::filesystem::canonical(one).string()));
  EXPECT_EQ(value_in(directory_ / "link", "x"), "'one'");
  EXPECT_EQ(value_in("", "x"), "'one'");  // where it was used last
  EXPECT_EQ(List().size(), 2u);
}

TEST_F(RegistryTest, AnOpenSessionIsFoundWithoutAskingItsInterpreterAgain) {
  const std::string project = MakeDirectory("project");
  EXPECT_EQ(ValueOf(*Run({.session = "a", .cwd = project, .cells = {{.code = "x = 1; x"}}})), "1");
  // What hangs now would hang every call.
  std::filesystem::create_directories(project + "/.venv/bin");
  std::ofstream(project + "/.venv/pyvenv.cfg") << "home = /usr/bin\nversion = 3.11.2\n";
  std::ofstream(project + "/.venv/bin/python") << "#!/bin/sh\nsleep 60\n";
  std::filesystem::permissions(project + "/.venv/bin/python", std::filesystem::perms::owner_all);
  const absl::Time start = absl::Now();
  EXPECT_EQ(ValueOf(*Run({.session = "a", .cwd = project, .cells = {{.code = "x"}}})), "1");
  EXPECT_LT(absl::Now() - start, absl::Seconds(5));
}

TEST_F(RegistryTest, AProjectWhosePythonHangsHoldsUpNoOther) {
  const std::string stuck = MakeDirectory("stuck");
  const std::string other = MakeDirectory("other");
  std::filesystem::create_directories(stuck + "/.venv/bin");
  std::ofstream(stuck + "/.venv/bin/python") << "#!/bin/sh\nsleep 60\n";
  std::filesystem::permissions(stuck + "/.venv/bin/python", std::filesystem::perms::owner_all);
  auto waits = Submit({.session = "a", .cwd = stuck, .cells = {{.code = "1"}}});
  EXPECT_EQ(ValueOf(*Run({.session = "b", .cwd = other, .cells = {{.code = "2"}}})), "2");
  EXPECT_FALSE(waits->result.has_value());
  (void)Finish(*waits);
}

TEST_F(RegistryTest, ABranchIsTakenAfterTheCallsThatCameBeforeIt) {
  auto running =
      Submit({.session = "a", .cells = {{.code = "x = 1"}, {.code = kHold}, {.code = "x = 2"}}});
  auto waiting = Submit({.session = "a", .cells = {{.code = "x = 3"}}});
  WaitForFile("started");
  std::optional<absl::StatusOr<Standing>> branched;
  registry_->Branch("a", {.id = "b"},
                    [&](absl::StatusOr<Standing> standing) { branched = std::move(standing); });
  LetGo();
  RunUntil([&] { return branched.has_value(); });
  ASSERT_TRUE(branched->ok()) << branched->status();
  EXPECT_EQ(Value("b", "x"), "3");
  EXPECT_TRUE(running->result.has_value() && waiting->result.has_value());
}

TEST_F(RegistryTest, TwoCallsThatArriveTogetherShareTheSessionTheyOpen) {
  auto first = Submit({.session = "a", .cwd = directory_.path(), .cells = {{.code = "x = 1"}}});
  auto second = Submit({.session = "a", .cells = {{.code = "x"}}});
  ASSERT_TRUE(Finish(*first).ok());
  EXPECT_EQ(ValueOf(*Finish(*second)), "1");
}

TEST_F(RegistryTest, APerCallSessionIsFreshAndShutDown) {
  const Call call = {
      .session = "a", .mode = CallMode::kPerCall, .cells = {{.code = "x = 1"}, {.code = "x"}}};
  EXPECT_EQ(ValueOf(*Run(call)), "1");
  EXPECT_EQ(Value("a", "'x' in globals()"), "False");
  RunUntil([this] { return registry_->size() == 1; });
}

TEST_F(RegistryTest, ListsWhatIsOpen) {
  EXPECT_EQ(Value("a", "1"), "1");
  EXPECT_EQ(Value("a", "2"), "2");
  auto busy = Submit({.session = "b", .owner = "me", .cells = {{.code = kHold}}});
  WaitForFile("started");
  auto waiting = Submit({.session = "b", .owner = "you", .cells = {{.code = "1"}}});
  const std::vector<SessionInfo> infos = List();
  ASSERT_EQ(infos.size(), 2u);
  EXPECT_EQ(infos[0].key.cwd, std::filesystem::canonical(directory_.path()));
  EXPECT_THAT(infos[0].key.interpreter, HasSubstr("python3"));
  EXPECT_EQ(infos[0].cells_run, 2u);
  EXPECT_FALSE(infos[0].busy);
  EXPECT_GT(infos[0].memory_bytes, 100u << 10);
  EXPECT_TRUE(infos[1].busy);
  EXPECT_EQ(infos[1].waiting, 1u);
  EXPECT_THAT(infos[1].owners, UnorderedElementsAre("me", "you"));
  LetGo();
  EXPECT_TRUE(Finish(*waiting).ok());
}

TEST_F(RegistryTest, ASessionIsClosedWhenItsLastOwnerLeaves) {
  const auto run_for = [&](const std::string& owner) {
    ASSERT_TRUE(Run({.session = "a", .owner = owner, .cells = {{.code = "x = 1"}}}).ok());
  };
  run_for("me");
  run_for("you");
  registry_->Leave("me");
  run_for("you");
  EXPECT_EQ(List()[0].cells_run, 3u);
  registry_->Leave("you");
  RunUntil([this] { return registry_->size() == 0; });
  const absl::StatusOr<CallResult> back = Run("a", "1");
  EXPECT_EQ(back->session_state, StateAfter::kFresh);
  EXPECT_EQ(back->session_reason,
            "the session was closed because its last owner has left; "
            "this cell ran in a fresh session");
}

TEST_F(RegistryTest, ASessionThatOthersUseStaysWhenAnOwnerLeaves) {
  EXPECT_EQ(Value("theirs", "x = 1; x"), "1");
  for (const char* session : {"theirs", "mine"}) {
    ASSERT_TRUE(Run({.session = session, .owner = "me", .cells = {{.code = "x = 1"}}}).ok());
  }
  EXPECT_EQ(Value("mine", "x"), "1");
  registry_->Leave("me");
  EXPECT_EQ(Value("theirs", "x"), "1");
  EXPECT_EQ(Value("mine", "x"), "1");
}

TEST_F(RegistryTest, ALeavingOwnerDoesNotEndWhatRuns) {
  auto call = Submit({.session = "a", .owner = "me", .cells = {{.code = kHold}, {.code = "1"}}});
  WaitForFile("started");
  registry_->Leave("me");
  LetGo();
  EXPECT_EQ(ValueOf(*Finish(*call)), "1");
  RunUntil([this] { return registry_->size() == 0; });
}

TEST_F(RegistryTest, TheLeastRecentlyUsedIdleSessionMakesRoom) {
  Start({.max_sessions = 2});
  EXPECT_EQ(Value("a", "x = 1; x"), "1");
  EXPECT_EQ(Value("b", "x = 1; x"), "1");
  EXPECT_EQ(Value("a", "x"), "1");
  EXPECT_EQ(Value("c", "1"), "1");
  EXPECT_THAT(OpenIds(), UnorderedElementsAre("a", "c"));

  const absl::StatusOr<CallResult> back = Run("b", "'x' in globals()");
  EXPECT_EQ(ValueOf(*back), "False");
  EXPECT_EQ(back->session_state, StateAfter::kFresh);
  EXPECT_EQ(back->session_reason,
            "the session was closed to make room for another one; "
            "this cell ran in a fresh session");
  EXPECT_EQ(Run("b", "1")->session_state, StateAfter::kKept);
}

TEST_F(RegistryTest, ABusySessionIsNeverClosedToMakeRoom) {
  Start({.max_sessions = 1});
  auto busy = Submit({.session = "a", .cells = {{.code = kHold}}});
  WaitForFile("started");
  const absl::Status refused = Run("b", "1").status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(refused.message(), HasSubstr("1 sessions are open"));
  LetGo();
  EXPECT_EQ(Finish(*busy)->status, CallStatus::kOk);
  EXPECT_EQ(Value("b", "1"), "1");
}

TEST_F(RegistryTest, ASessionIsNotClosedToMakeRoomForItsOwnBranch) {
  Start({.max_sessions = 2});
  ASSERT_EQ(Value("a", "x = 1; x"), "1");
  ASSERT_EQ(Value("b", "x = 1; x"), "1");
  EXPECT_TRUE(Branch("a", "c").ok());
  EXPECT_THAT(OpenIds(), UnorderedElementsAre("a", "c"));
  EXPECT_EQ(Value("a", "x"), "1");

  Start({.max_sessions = 1});
  ASSERT_EQ(Value("a", "x = 1; x"), "1");
  EXPECT_THAT(Branch("a", "c").status().message(), HasSubstr("all are busy"));
  EXPECT_EQ(Value("a", "x"), "1");
}

TEST_F(RegistryTest, NoSessionIsClosedForABranchThatCannotBeMade) {
  Start({.max_sessions = 2});
  ASSERT_EQ(Value("a", "x = 1; x"), "1");
  ASSERT_EQ(Value("b", "x = 1; x"), "1");
  EXPECT_THAT(Branch("b", "c", 99).status().message(), HasSubstr("no snapshot"));
  EXPECT_EQ(Value("a", "x"), "1");
}

TEST_F(RegistryTest, ABranchThatMadeRoomBeforeItRanACellSaysSoWhenItIsWantedAgain) {
  Start({.max_sessions = 2});
  ASSERT_TRUE(Run("a", "x = 1").ok());
  ASSERT_TRUE(Branch("a", "b").ok());
  ASSERT_TRUE(Run("c", "1").ok());  // in the place of a
  ASSERT_TRUE(Run("d", "1").ok());  // in that of the branch
  EXPECT_EQ(Run("b", "1")->session_state, StateAfter::kFresh);
}

TEST_F(RegistryTest, OneThatWasOnlyLookedAtDoesNotTakeTheReasonWhyItIsEmptyAlong) {
  Start({.max_sessions = 1});
  ASSERT_TRUE(Run("a", "x = 1").ok());
  ASSERT_TRUE(Run("b", "1").ok());  // in the place of a
  bool looked = false;
  registry_->Acquire({.id = "a", .runs_cells = false},
                     [&](absl::StatusOr<SessionHold> hold) { looked = hold.ok(); });
  RunUntil([&] { return looked; });
  ASSERT_TRUE(Run("c", "1").ok());  // in the place of a again
  EXPECT_THAT(Run("a", "1")->session_reason, StartsWith("the session was closed to make room"));
}

TEST_F(RegistryTest, AnIdleSessionIsClosedAfterItsTimeAndSaysSoWhenItIsWantedAgain) {
  Start({}, [](Launch& launch) { launch.settings.idle_timeout = absl::Milliseconds(100); });
  EXPECT_EQ(Value("a", "x = 1; x"), "1");
  RunUntil([this] { return registry_->size() == 0; });
  const absl::StatusOr<CallResult> back = Run("a", "1");
  EXPECT_EQ(back->session_state, StateAfter::kFresh);
  EXPECT_EQ(back->session_reason,
            "the session was closed after 0.1 s without a call; "
            "this cell ran in a fresh session");
}

TEST_F(RegistryTest, ATemplateThatHasJustDiedKeepsNoSessionFromOpening) {
  ASSERT_EQ(Value("a", "1"), "1");
  const pid_t keeper = StatOf(List()[0].worker_pid)->parent;
  const pid_t source = StatOf(keeper)->parent;
  ASSERT_GT(source, 1);
  ASSERT_EQ(kill(source, SIGKILL), 0);
  // The loop does not run, so nobody hears of it.
  while (StatOf(source)->state != 'Z') absl::SleepFor(absl::Milliseconds(1));
  EXPECT_EQ(Value("b", "1"), "1");
}

TEST_F(RegistryTest, AFullQueueIsAClearError) {
  Start({.max_waiting = 2});
  std::vector<std::unique_ptr<Pending>> calls;
  calls.push_back(Submit({.session = "a", .cells = {{.code = kHold}}}));
  WaitForFile("started");
  for (int i = 0; i < 3; ++i) calls.push_back(Submit({.session = "a", .cells = {{.code = "1"}}}));
  EXPECT_EQ(Finish(*calls[3]).status().message(), "the session's queue is full: 2 calls wait");
  LetGo();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Finish(*calls[i]).ok());
}

TEST_F(RegistryTest, ClosingASessionEndsWhatRunsOnIt) {
  auto running = Submit({.session = "a", .cells = {{.code = "1"}, {.code = kHold}}});
  WaitForFile("started");
  auto waiting = Submit({.session = "a", .cells = {{.code = "1"}}});
  bool closed = false;
  EXPECT_TRUE(registry_->Close("a", [&] { closed = true; }));
  const absl::StatusOr<CallResult> ended = Finish(*running);
  ASSERT_TRUE(ended.ok());
  EXPECT_EQ(ended->status, CallStatus::kCancelled);
  EXPECT_EQ(ended->cells[0].status, CellRunStatus::kComplete);
  EXPECT_EQ(ended->cells[1].outcome.state_detail, "the session was closed, state lost");
  EXPECT_EQ(Finish(*waiting).status().code(), absl::StatusCode::kCancelled);
  RunUntil([&] { return closed; });
  EXPECT_EQ(registry_->size(), 0u);
  EXPECT_FALSE(registry_->Close("a", [] {}));
}

TEST_F(RegistryTest, WithoutDescriptorsIdleSessionsGiveWay) {
  for (const char* id : {"a", "b", "c", "d"}) EXPECT_EQ(Value(id, "x = 1; x"), "1");
  // As many as are open now: a new worker needs more, which only a closed session gives back.
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  int highest = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    highest = std::max(highest, std::stoi(entry.path().filename().string()));
  }
  rlimit tight = {static_cast<rlim_t>(highest) + 1, before.rlim_max};
  std::vector<UniqueFd> holes;  // below the limit
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
  while (true) {
    UniqueFd hole(dup(0));
    if (!hole) break;
    holes.push_back(std::move(hole));
  }
  absl::StatusOr<CallResult> result = Run("e", "'here'");
  holes.clear();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(ValueOf(*result), "'here'");
  EXPECT_THAT(OpenIds(), ElementsAre("e"));
  result = Run("a", "'x' in globals()");
  EXPECT_EQ(result->session_state, StateAfter::kFresh);
  EXPECT_THAT(result->session_reason, HasSubstr("ran out of"));
}

TEST_F(RegistryTest, WithoutDescriptorsAndIdleSessionsThereIsAClearError) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit tight = {3, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
  const absl::Status status = Run("a", "1").status();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("Too many open files"));
  EXPECT_EQ(Value("a", "1"), "1");
}

TEST_F(RegistryTest, AnIdleSessionOverItsMemoryCapIsEndedToo) {
  if (kWorkerSanitized) GTEST_SKIP() << "shadow memory counts against the cap";
  Start({}, [](Launch& launch) { launch.session.memory_cap = 100 << 20; });
  // Shared memory is not counted by RLIMIT_DATA.
  EXPECT_EQ(Value("a",
                  "import mmap, asyncio\nasync def later():\n    await asyncio.sleep(0.1)\n"
                  "    global block; block = mmap.mmap(-1, 250 << 20)\n"
                  "    for i in range(250): block.write(b'x' * (1 << 20))\n"
                  "task = asyncio.create_task(later()); 1"),
            "1");
  RunUntil([this] { return registry_->Find("a")->worker_pid() < 0; });
  const absl::StatusOr<CallResult> next = Run("a", "1");
  // Restored, if a snapshot was taken before the memory was.
  EXPECT_THAT(next->session_state, ::testing::AnyOf(StateAfter::kFresh, StateAfter::kRestored));
  EXPECT_THAT(next->session_reason, HasSubstr("of memory, more than the cap of 100 MiB"));
}

// Writes to every page of it.
std::string Rewrite(const std::string& value) {
  return "for i in range(0, len(block), 4096): block[i] = " + value;
}
// Long enough for the host to look at the memory of sessions.
constexpr char kWaitForALook[] = "import time; time.sleep(2.5); block[0]";

TEST_F(RegistryTest, SnapshotsDoNotCountAgainstTheMemoryCap) {
  if (kWorkerSanitized) GTEST_SKIP() << "shadow memory counts against the cap";
  constexpr uint64_t kCap = 250u << 20;
  Start({}, [](Launch& launch) {
    launch.session.memory_cap = kCap;
    launch.session.snapshots.policy = SnapshotPolicy::kAlways;
  });
  EXPECT_EQ(Value("a", "block = bytearray(80 << 20)"), "nothing");
  for (const char* value : {"1", "2", "3", "4"}) EXPECT_EQ(Value("a", Rewrite(value)), "nothing");
  const uint64_t used = List()[0].memory_bytes;
  EXPECT_GT(used, 80u << 20);
  EXPECT_LT(used, 160u << 20);
  EXPECT_EQ(Value("a", kWaitForALook), "4");
  EXPECT_EQ(Run("a", "1")->session_state, StateAfter::kKept);
}

TEST_F(RegistryTest, ABranchDoesNotCountAgainstTheMemoryCapOfTheOriginal) {
  if (kWorkerSanitized) GTEST_SKIP() << "shadow memory counts against the cap";
  Start({}, [](Launch& launch) {
    launch.session.memory_cap = 200u << 20;
    launch.session.snapshots.policy = SnapshotPolicy::kOff;
  });
  EXPECT_EQ(Value("a", "block = bytearray(120 << 20)\n" + Rewrite("1")), "nothing");
  std::optional<absl::StatusOr<Standing>> branched;
  registry_->Branch("a", {.id = "b"},
                    [&](absl::StatusOr<Standing> standing) { branched = std::move(standing); });
  RunUntil([&] { return branched.has_value(); });
  ASSERT_TRUE(branched->ok()) << branched->status();
  EXPECT_EQ(Value("b", Rewrite("2")), "nothing");
  EXPECT_EQ(Value("a", kWaitForALook), "1");
  EXPECT_EQ(Value("b", "block[0]"), "2");
}

TEST_F(RegistryTest, MemoryAtTheCapIsAMemoryErrorInTheCell) {
  if (kWorkerSanitized) GTEST_SKIP() << "shadow memory counts against the cap";
  Start({}, [](Launch& launch) { launch.session.memory_cap = 200 << 20; });
  EXPECT_EQ(Value("a", "x = 1; bytearray(1 << 30)"), "MemoryError: ");
  EXPECT_EQ(Value("a", "x"), "1");
}

TEST_F(RegistryTest, ASessionThatIsFullCanBeToldToFreeSomething) {
  if (kWorkerSanitized) GTEST_SKIP() << "shadow memory counts against the cap";
  Start({}, [](Launch& launch) { launch.session.memory_cap = 200 << 20; });
  const std::string fill = "keep = []\nwhile True: keep.append(bytearray(1000))";
  EXPECT_EQ(Value("a", fill), "MemoryError: ");
  EXPECT_EQ(Value("a", "while True: keep.append(bytearray(1000))"), "MemoryError: ");
  EXPECT_EQ(Value("a", "len(keep) > 100_000"), "True");
  EXPECT_EQ(Value("a", "keep.clear(); len(bytearray(100 << 20))"), "104857600");
}

TEST_F(RegistryTest, ASessionThatIsFullOfTheSmallestObjectsToo) {
  if (kWorkerSanitized) GTEST_SKIP() << "shadow memory counts against the cap";
  Start({}, [](Launch& launch) { launch.session.memory_cap = 100 << 20; });
  EXPECT_EQ(Value("a", "chain = None\nwhile True: chain = (chain,)"), "MemoryError: ");
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(Value("a", "while True: chain = (chain,)"), "MemoryError: ");
  }
  EXPECT_EQ(Value("a", "1 + 1"), "2");
  EXPECT_EQ(Value("a", "del chain; len(bytearray(40 << 20))"), "41943040");
}

}  // namespace
}  // namespace cellar::host
