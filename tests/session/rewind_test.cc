// Going back while something else is under way.
#include "tests/testing/calls_test.h"

namespace cellar::host {
namespace {

class RewindTest : public CallsTest {
 protected:
  void SetUp() override {
    CallsTest::SetUp();
    Start({}, [](Launch& launch) { launch.session.snapshots.policy = SnapshotPolicy::kAlways; });
  }

  // Asks for a cell before which a snapshot is taken. Returns when that is there, and the host has
  // not heard of it yet.
  std::unique_ptr<Pending> SubmitUntilSnapshotIsMade() {
    const SessionProcesses before;
    std::unique_ptr<Pending> call = Submit({.session = "s", .cells = {{.code = "5"}}});
    const absl::Time deadline = absl::Now() + kDeadline;
    while (before.LeftAfter(absl::ZeroDuration()).empty() && absl::Now() < deadline) {
      loop_->RunDue();
    }
    return call;
  }
};

TEST_F(RewindTest, ToTheOldestSnapshotWhileOneMoreIsTaken) {
  const size_t kept = SnapshotOptions().kept;
  ASSERT_EQ(Value("s", "x = 1"), "nothing");
  Session* session = registry_->Find("s");
  while (session->snapshots().kept.size() < kept) ASSERT_EQ(Value("s", "x += 1"), "nothing");
  const uint32_t oldest = session->snapshots().kept.front().before_cell;
  const std::unique_ptr<Pending> call = SubmitUntilSnapshotIsMade();
  std::optional<absl::StatusOr<Standing>> standing;
  session->Rewind(oldest, [&](absl::StatusOr<Standing> stands) { standing = std::move(stands); });
  RunUntil([&] { return standing.has_value(); });
  ASSERT_TRUE(standing->ok()) << standing->status();
  EXPECT_EQ((*standing)->before_cell, oldest);
  const absl::StatusOr<CallResult> result = Finish(*call);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(ValueOf(*result), "5") << "a cell that waits is not part of what is undone";
}

TEST_F(RewindTest, TakesBackTheVariablesOfAnUndoneCall) {
  ASSERT_EQ(Value("s", "import os"), "nothing");
  const std::string undone = MakeDirectory("undone");
  const Call call = {.session = "s",
                     .environment = {{"FOO", "1"}, {"PI_ARTIFACTS_DIR", undone}},
                     .cells = {{.code = "os.environ['FOO']"}}};
  ASSERT_EQ(ValueOf(*Run(call)), "'1'");
  std::optional<absl::StatusOr<Standing>> standing;
  registry_->Find("s")->Rewind(
      2, [&](absl::StatusOr<Standing> stands) { standing = std::move(stands); });
  RunUntil([&] { return standing.has_value(); });
  ASSERT_TRUE(standing->ok()) << standing->status();
  const absl::StatusOr<CallResult> printed = Run("s", "print('x' * 100_000)");
  ASSERT_TRUE(printed.ok()) << printed.status();
  EXPECT_THAT(printed->cells[0].outcome.truncation->artifact_path,
              testing::StartsWith(directory_ / "artifacts"));
  const Call reset = {.session = "s",
                      .cells = {{.code = "import os; 'FOO' in os.environ", .reset = true}}};
  EXPECT_EQ(ValueOf(*Run(reset)), "False");
}

}  // namespace
}  // namespace cellar::host
