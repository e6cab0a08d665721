// What a disk that stands still does to the output of a session.
#include "host/bridge/tool_set.h"
#include "tests/testing/calls_test.h"
#include "tests/testing/spilling.h"

namespace cellar::host {
namespace {

using ::testing::HasSubstr;
using StalledDiskTest = CallsTest;

std::string BackgroundText(const absl::StatusOr<CallResult>& result) {
  if (!result.ok()) return std::string(result.status().message());
  std::string text;
  for (const CellOutput& output : result->background) text += output.text;
  return text;
}

TEST_F(StalledDiskTest, DoesNotHoldUpTheOutputOfLaterCells) {
  StalledDisk disk;
  // More than may wait for the disk, so that output is paused; what is left fits into the ring, so
  // that the cell ends all the same.
  auto first = Submit({.session = "a",
                       .cells = {{.code = "import os, time\nprint('x' * 100_000)\n"
                                          "while not os.path.exists('go'): time.sleep(0.01)\n"
                                          "for i in range(25): print('x' * 100_000)"}}});
  RunUntil([&] { return disk.has_writer(); });
  std::ofstream(directory_ / "go") << "";
  const absl::StatusOr<CallResult> ended = Finish(*first);
  ASSERT_TRUE(ended.ok()) << ended.status();
  ASSERT_EQ(ended->cells[0].outcome.truncation->error, "not yet written");
  disk.Release();
  EXPECT_EQ(Value("a", "for i in range(100): print('x' * 100_000)\n'printed'"), "'printed'");
}

// What was more than may wait for the disk was dropped.
TEST_F(StalledDiskTest, LosesNothingThatABackgroundThreadPrints) {
  StalledDisk disk;
  ASSERT_TRUE(Run("a",
                  "import os, threading, time\n"
                  "def write():\n"
                  "    while not os.path.exists('go'): time.sleep(0.01)\n"
                  "    for i in range(300): print('x' * 99_999)\n"
                  "    open('written', 'w').close()\n"
                  "threading.Thread(target=write).start()")
                  .ok());
  std::ofstream(directory_ / "go") << "";
  RunUntil([&] { return disk.has_writer(); });
  const absl::Time later = absl::Now() + absl::Milliseconds(500);
  RunUntil([&] { return absl::Now() > later; });
  EXPECT_FALSE(std::filesystem::exists(directory_ / "written")) << "it has to wait for the disk";
  disk.Release();
  WaitForFile("written");
  EXPECT_THAT(BackgroundText(Run("a", "1")), HasSubstr("the whole is in artifact://"));
}

// It said of bytes that were about to be written that they are missing.
TEST_F(StalledDiskTest, AnOutcomeWaitsForTheBackgroundOutputThatItTakesAlong) {
  StalledDisk disk;
  ASSERT_TRUE(Run("a",
                  "import threading\n"
                  "go = threading.Event()\n"
                  "def write():\n"
                  "    go.wait()\n"
                  "    print('x\\n' * 100_000)\n"
                  "thread = threading.Thread(target=write)\n"
                  "thread.start()")
                  .ok());
  auto next = Submit(
      {.session = "a", .cells = {{.code = "go.set()\nthread.join()\nopen('ended', 'w').close()"}}});
  WaitForFile("ended");
  const absl::Time later = absl::Now() + absl::Milliseconds(100);
  RunUntil([&] { return disk.has_writer() && absl::Now() > later; });
  EXPECT_FALSE(next->result.has_value());
  disk.Release();
  EXPECT_THAT(BackgroundText(Finish(*next)), HasSubstr("the whole is in artifact://"));
}

// The call that waited for it was interrupted in its place.
TEST_F(StalledDiskTest, ACancelOfANestedCellThatHasEndedHitsNoOtherCell) {
  ToolSet tools;
  std::optional<BridgeReply> reply;
  tools.Serve("ask", [&](const BridgeCall&, BridgeReply given) { reply = std::move(given); });
  registry_->AnswerCalls(&tools);
  auto outer = Submit(
      {.session = "a",
       .cells = {{.code = "from cellar_runtime import bridge\nbridge.host.call('ask', 0)"}}});
  RunUntil([&] { return reply.has_value(); });
  StalledDisk disk;
  auto nested = Submit({.session = "a",
                        .parent = HandleOf(outer->id),
                        .cells = {{.code = "for i in range(3): print('x' * 100_000)\n"
                                           "open('ended', 'w').close()"}}});
  WaitForFile("ended");
  const absl::Time later = absl::Now() + absl::Milliseconds(100);
  RunUntil([&] { return disk.has_writer() && absl::Now() > later; });
  ASSERT_FALSE(nested->result.has_value());
  service_->Cancel(nested->id);
  disk.Release();
  EXPECT_TRUE(Finish(*nested).ok());
  (*reply)({.value = "1"});
  EXPECT_EQ(ValueOf(*Finish(*outer)), "1");
  Stop();
}

}  // namespace
}  // namespace cellar::host
