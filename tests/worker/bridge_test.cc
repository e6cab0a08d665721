// Calls from cells to the program that runs them: values, what is offered, threads, tasks.
#include <filesystem>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "tests/worker/bridge_fixture.h"

namespace cellar::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::ptrdiff_t CountFds() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                       std::filesystem::directory_iterator());
}

// --- values -------------------------------------------------------------------------------------

TEST_F(BridgeTest, ValuesComeBackAsTheyWereSent) {
  EXPECT_THAT(Run("call('echo', {'a': [1, 2.5, None, True, 'ü', {}]})"),
              ResultIs("{'a': [1, 2.5, None, True, 'ü', {}]}"));
}

TEST_F(BridgeTest, TheProviderKnowsWhoCalls) {
  std::unique_ptr<StartedCell> cell = StartCalling("call('never', {'x': 1})", 1);
  const auto [call, reply] = log_->calls()[0];
  EXPECT_EQ(call.session, "the session");
  EXPECT_EQ(call.cell, 2u);
  EXPECT_EQ(call.name, "never");
  EXPECT_EQ(call.args, R"({"x":1})");
  reply({.value = "7"});
  EXPECT_THAT(cell->Join(), ResultIs("7"));
  EXPECT_THAT(log_->cancelled(), IsEmpty());
}

TEST_F(BridgeTest, AnErrorIsRaisedWithItsMessage) {
  EXPECT_THAT(Run("call('fail', {})"), Fails("BridgeError"));
  EXPECT_EQ(Run("call('fail', {})").error->evalue, "there is no such file: ünknown");
}

TEST_F(BridgeTest, AFunctionThatThrowsFailsTheCall) {
  CellOutcome outcome = Run("call('throw', {'a': 'x'})");
  EXPECT_THAT(outcome, Fails("BridgeError"));
  EXPECT_THAT(outcome.error->evalue, HasSubstr("type must be number"));
  EXPECT_THAT(Run("call('echo', 1)"), ResultIs("1"));
}

TEST_F(BridgeTest, AnUnknownNameIsAnErrorThatListsTheKnownOnes) {
  CellOutcome outcome = Run("call('ehco', {})");
  ASSERT_TRUE(outcome.error.has_value());
  EXPECT_THAT(outcome.error->evalue, AllOf(HasSubstr("no ehco"), HasSubstr("echo, fail, meet")));
}

TEST_F(BridgeTest, ADamagedAnswerIsAnErrorAndTheNextOneIsFine) {
  for (const char* text : {"'{not json'", "''", "'[' * 100000", "'1 2'"}) {
    EXPECT_THAT(Run(absl::StrCat("call('raw', ", text, ")")), Fails("BridgeError")) << text;
  }
  EXPECT_THAT(Run("call('raw', '[1]')"), ResultIs("[1]"));
  EXPECT_THAT(Run("call('echo', 'no second answer')"), ResultIs("'no second answer'"));
}

TEST_F(BridgeTest, BytesThatAreNotTextAreAnError) {
  std::unique_ptr<StartedCell> cell = StartCalling("call('never', 0)", 1);
  log_->calls()[0].second({.value = "\"\xff\xfe\""});
  EXPECT_THAT(cell->Join(), Fails("BridgeError"));
}

TEST_F(BridgeTest, TenMebibytesGoBothWays) {
  EXPECT_THAT(Run("big = 'ab' * (5 << 20)\ncall('echo', big) == big"), ResultIs("True"));
}

TEST_F(BridgeTest, TooMuchIsRefusedOnBothSides) {
  CellOutcome outcome = Run("call('echo', 'a' * (65 << 20))");
  EXPECT_THAT(outcome, Fails("ValueError"));
  std::unique_ptr<StartedCell> cell = StartCalling("call('never', 0)", 1);
  log_->calls()[0].second({.value = std::string(65u << 20, ' ')});
  EXPECT_THAT(cell->Join(), Fails("BridgeError"));
  EXPECT_THAT(Run("call('echo', 1)"), ResultIs("1"));
}

TEST_F(BridgeTest, ImagesAreShown) {
  std::unique_ptr<StartedCell> cell = StartCalling("call('never', 0)", 1);
  log_->calls()[0].second({.images = {{"image/png", std::string("\x89PNG\0", 5)}}});
  CellOutcome outcome = cell->Join();
  ASSERT_EQ(outcome.outputs.size(), 1u) << ::testing::PrintToString(outcome);
  EXPECT_THAT(outcome.outputs[0].data,
              ElementsAre(AllOf(Field(&wire::MimeEntry::mime, "text/plain"),
                                Field(&wire::MimeEntry::data, "<Image image/png, 5 bytes>")),
                          AllOf(Field(&wire::MimeEntry::mime, "image/png"),
                                Field(&wire::MimeEntry::data, std::string("\x89PNG\0", 5)))));
}

TEST_F(BridgeTest, ImagesStandWhereTheValueHasThem) {
  std::unique_ptr<StartedCell> cell = StartCalling("call('never', 0)", 1);
  log_->calls()[0].second({.value = R"({"page": {"$image": 1}, "no": {"$image": 9}})",
                           .images = {{"image/gif", "abc"}, {"image/jpeg", "de"}}});
  EXPECT_THAT(cell->Join(),
              ResultIs("[{'page': <Image image/jpeg, 2 bytes>, 'no': {'$image': 9}},\n"
                       " <Image image/gif, 3 bytes>]"));
}

// --- what is offered ----------------------------------------------------------------------------

TEST_F(BridgeTest, CellsSeeTheToolsAndTheirChanges) {
  EXPECT_THAT(Run("[(t['name'], t['description'], t['schema']['type']) for t in "
                  "bridge.host.tools()]"),
              ResultIs("[('echo', 'Gives back what it is given.', 'object')]"));
  tools_->Add({.name = "another"}, ToolSet::Plain([](const nlohmann::json&) { return 5; }));
  host_->RenewOffer();
  EXPECT_THAT(Run("[t['name'] for t in bridge.host.tools()]"), ResultIs("['another', 'echo']"));
  EXPECT_THAT(Run("call('another', None)"), ResultIs("5"));
  tools_->Remove("another");
}

TEST_F(BridgeTest, TheBudgetIsRightAfterEachAnswer) {
  EXPECT_THAT(Run("bridge.host.budget()"), ResultIs("{'hard': False, 'spent': 0, 'total': None}"));
  std::unique_ptr<StartedCell> cell = StartCalling("call('never', 0)\nbridge.host.budget()", 1);
  tools_->SetBudget({.total = 1000, .hard = true, .spent = 12.5});
  log_->calls()[0].second({});
  EXPECT_THAT(cell->Join(), ResultIs("{'hard': True, 'spent': 12.5, 'total': 1000}"));
  tools_->SetBudget({});
}

TEST_F(BridgeTest, WithoutAProviderTheErrorSaysSo) {
  absl::StatusOr<std::unique_ptr<Session>> session = SharedHost(absl::Seconds(3)).Open();
  ASSERT_TRUE(session.ok());
  auto outcome = (*session)->Run("print(dir(tool))\ntool.x({})");
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->stdout_text(), "[]\n");
  ASSERT_THAT(*outcome, Fails("NotConnected"));
  EXPECT_THAT(outcome->error->evalue, HasSubstr("no provider"));
}

// --- threads and tasks --------------------------------------------------------------------------

TEST_F(BridgeTest, SixteenThreadsCallAtOnceWhileTheMainThreadWaitsForThem) {
  EXPECT_THAT(Run(R"(
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(16) as pool:
    answers = [list(pool.map(lambda i: call('meet', [round, i]), range(16))) for round in range(20)]
answers == [[[round, i] for i in range(16)] for round in range(20)]
)"),
              ResultIs("True"));
}

TEST_F(BridgeTest, SixteenTasksCallAtOnce) {
  EXPECT_THAT(Run("for round in range(20):\n"
                  "    answers = await asyncio.gather(*(acall('meet', i) for i in range(16)))\n"
                  "    assert answers == list(range(16))\nanswers[-1]"),
              ResultIs("15"));
}

TEST_F(BridgeTest, OtherTasksRunWhileOneWaits) {
  EXPECT_THAT(Run(R"(
ticks = 0
async def tick():
    global ticks
    while True:
        ticks += 1
        await asyncio.sleep(0.01)
ticking = asyncio.create_task(tick())
answer = await acall('slow', 0)
ticking.cancel()
answer, ticks > 10
)"),
              ResultIs("('slow', True)"));
}

TEST_F(BridgeTest, AnEventLoopInAThreadCanAwaitToo) {
  EXPECT_THAT(Run("seen = []\n"
                  "async def main(): return await asyncio.gather(*(acall('echo', i) for i in "
                  "range(5)))\n"
                  "t = threading.Thread(target=lambda: seen.append(asyncio.run(main())))\n"
                  "t.start(); t.join()\nseen"),
              ResultIs("[[0, 1, 2, 3, 4]]"));
}

TEST_F(BridgeTest, AnErrorOfAnAwaitedCallIsRaised) {
  EXPECT_THAT(Run("await acall('fail', {})"), Fails("BridgeError"));
}

TEST_F(BridgeTest, ACallThatIsCancelledInTheCellIsWithdrawn) {
  EXPECT_THAT(Run("try:\n    await asyncio.wait_for(acall('never', 0), 0.05)\n"
                  "except asyncio.TimeoutError: print('gave up')"),
              Prints("gave up\n"));
  ExpectAllCancelled();
}

TEST_F(BridgeTest, LinesEndWithTheirThreads) {
  Run("call('echo', 1)");
  const std::ptrdiff_t before = CountFds();
  EXPECT_THAT(Run("for i in range(300):\n"
                  "    t = threading.Thread(target=call, args=('echo', i)); t.start(); t.join()\n"
                  "len([f for f in os.listdir('/proc/self/fd') if int(f) >= 640]) < 20"),
              ResultIs("True"));
  // A few belong to the worker itself, whose keeper may have been slow to speak.
  EXPECT_TRUE(Eventually([&] { return CountFds() <= before + 8; })) << CountFds() - before;
}

TEST_F(BridgeTest, TooManyThreadsAtOnceGetAClearError) {
  EXPECT_THAT(Run(R"(
errors, gate = [], threading.Barrier(280)
def one():
    gate.wait()
    try: call('echo', 1)
    except ConnectionError as error: errors.append(str(error))
    gate.wait()
threading.stack_size(256 << 10)
threads = [threading.Thread(target=one) for i in range(280)]
for t in threads: t.start()
for t in threads: t.join()
threading.stack_size(0)
len(errors) >= 20, len(set(errors)), '256 of a session' in errors[0]
)"),
              ResultIs("(True, 1, True)"));
  EXPECT_THAT(Run("call('echo', 1)"), ResultIs("1"));
}

TEST_F(BridgeTest, ACellThatClosesEveryDescriptorOfItsOwnCanCallAgain) {
  EXPECT_THAT(Run("call('echo', 1)\nos.closerange(3, 600)\ncall('echo', 2)"), ResultIs("2"));
  // Also the line's own: the call makes another.
  EXPECT_THAT(Run("os.close(bridge.host._of_thread.line.fileno())\ncall('echo', 3)"),
              ResultIs("3"));
}

TEST_F(BridgeTest, GarbageOnALineEndsTheLineAndNothingElse) {
  CellOutcome outcome =
      Run("call('echo', 1)\nos.write(bridge.host._of_thread.line.fileno(), b'garbage' * 10)\n"
          "call('echo', 2)");
  EXPECT_THAT(outcome, Fails(::testing::AnyOf("ConnectionError", "BrokenPipeError")));
  EXPECT_THAT(Run("call('echo', 3)"), ResultIs("3"));
}

TEST_F(BridgeTest, AForkedChildGetsAClearErrorAndTheParentItsAnswer) {
  CellOutcome outcome = Run(R"(
call('echo', 0)
pid = os.fork()
if pid == 0:
    try: call('echo', 1)
    except RuntimeError as error: os.write(1, str(error).encode())
    os._exit(0)
os.waitpid(pid, 0)
call('echo', 2)
)");
  EXPECT_THAT(outcome, ResultIs("2"));
  EXPECT_THAT(outcome.stdout_text(), HasSubstr("a process forked by a cell cannot call the host"));
}

}  // namespace
}  // namespace cellar::testing
