// What a callback asks of the session that calls it.
#include "tests/testing/calls_test.h"

namespace cellar::host {
namespace {

using CallbacksTest = CallsTest;

// It was taken for the cell that the worker had died in.
TEST_F(CallbacksTest, ACellAskedForWhenAValueHasFailedRunsInTheNextWorker) {
  query_.env["CELLAR_SNAPSHOTS"] = "off";
  absl::StatusOr<Launch> launch = PrepareLaunch(query_);
  ASSERT_TRUE(launch.ok()) << launch.status();
  Session session(*loop_, *templates_, OutputStorage{&writer_, artifacts_}, launch->session);
  session.Run({.code = "import asyncio, time\n"
                       "def hold():\n    open('held', 'w').close()\n    time.sleep(60)\n"
                       "asyncio.get_running_loop().call_later(0.01, hold)"},
              [](absl::StatusOr<CellOutcome>) {});
  WaitForFile("held");
  std::optional<absl::Status> refusal;
  std::optional<absl::StatusOr<CellOutcome>> outcome;
  session.Get("x", [&](absl::StatusOr<std::optional<SessionValue>> value) {
    refusal = value.status();
    session.Run({.code = "6 * 7"}, [&](absl::StatusOr<CellOutcome> ended) { outcome = ended; });
  });
  session.KillWorker("was killed by a test");
  RunUntil([&] { return outcome.has_value(); });
  EXPECT_EQ(refusal->code(), absl::StatusCode::kUnavailable);
  ASSERT_TRUE(outcome->ok()) << outcome->status();
  EXPECT_EQ((*outcome)->result(), "42");
  EXPECT_EQ((*outcome)->state, StateAfter::kFresh);
  bool closed = false;
  session.Close([&] { closed = true; });
  RunUntil([&] { return closed; });
}

}  // namespace
}  // namespace cellar::host
