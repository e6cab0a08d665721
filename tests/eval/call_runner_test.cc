// Calls on a real session: CELLAR_WORKER names the worker program.
#include "host/eval/call_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <memory>

#include "host/session/launch.h"
#include "tests/testing/scratch_directory.h"

namespace cellar::host {
namespace {

using ::testing::ElementsAre;
using enum CellRunStatus;

// Writes down what it sees.
class Diary : public CallObserver {
 public:
  void OnCellStarted(size_t index, const CallCell&) override {
    entries.push_back("started " + std::to_string(index));
    if (on_started) on_started();
  }
  void OnText(Stream, std::string_view text) override {
    // How a print is cut into pieces depends on the time.
    if (!entries.back().starts_with("text ")) entries.push_back("text ");
    entries.back() += text;
    if (on_text) on_text();
  }
  void OnCellFinished(size_t index, const CellResult& result) override {
    entries.push_back("finished " + std::to_string(index) +
                      (result.status == kComplete ? "" : " badly"));
    if (on_finished) on_finished();
  }

  std::function<void()> on_started;
  std::function<void()> on_text;
  std::function<void()> on_finished;
  std::vector<std::string> entries;
};

class CallRunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* worker = std::getenv("CELLAR_WORKER");
    ASSERT_NE(worker, nullptr) << "CELLAR_WORKER is not set";
    absl::StatusOr<Launch> launch =
        PrepareLaunch({.env = {{"PATH", "/usr/bin:/bin"}, {"HOME", directory_.path()}},
                       .cwd = directory_.path(),
                       .worker_program = worker});
    ASSERT_TRUE(launch.ok()) << launch.status();
    // Whether one was taken in time would depend on the machine.
    launch->session.snapshots.policy = SnapshotPolicy::kOff;
    loop_ = *EventLoop::Create();
    templates_ = std::make_unique<TemplatePool>(*loop_);
    session_ = std::make_unique<Session>(*loop_, *templates_, OutputStorage{&writer_, artifacts_},
                                         launch->session);
  }

  void TearDown() override {
    if (session_ == nullptr) return;
    session_->Close([this] { loop_->Stop(); });
    loop_->Run();
  }

  absl::StatusOr<CallResult> Run(std::vector<CallCell> cells) {
    absl::StatusOr<CallResult> answer = absl::UnknownError("not done");
    runner_ = std::make_unique<CallRunner>(*loop_, *session_,
                                           Call{.session = "s", .cells = std::move(cells)}, &diary_,
                                           [&](absl::StatusOr<CallResult> result) {
                                             answer = std::move(result);
                                             runner_.reset();
                                             loop_->Stop();
                                           });
    loop_->Post([this] { runner_->Start(); });
    loop_->Run();
    return answer;
  }

  static std::vector<CellRunStatus> Statuses(const CallResult& result) {
    std::vector<CellRunStatus> statuses;
    for (const CellResult& cell : result.cells) statuses.push_back(cell.status);
    return statuses;
  }

  ScratchDirectory directory_;
  SpillWriter writer_;
  ArtifactStore artifacts_{(directory_ / "artifacts").string()};
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<TemplatePool> templates_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<CallRunner> runner_;
  Diary diary_;
};

TEST_F(CallRunnerTest, RunsTheCellsInOrder) {
  const absl::StatusOr<CallResult> result = Run(
      {{.code = "x = 1; print(x)", .title = "first", .clamp_note = "clamped"}, {.code = "x + 1"}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->status, CallStatus::kOk);
  EXPECT_EQ(result->session_id, "s");
  EXPECT_EQ(result->session_state, StateAfter::kKept);
  EXPECT_THAT(Statuses(*result), ElementsAre(kComplete, kComplete));
  EXPECT_EQ(result->cells[0].title, "first");
  EXPECT_EQ(result->cells[0].clamp_note, "clamped");
  EXPECT_EQ(result->cells[0].outcome.stdout_text(), "1\n");
  EXPECT_EQ(result->cells[1].outcome.result(), "2");
  EXPECT_EQ(result->cells[1].runs, 1);
  EXPECT_THAT(diary_.entries,
              ElementsAre("started 0", "text 1\n", "finished 0", "started 1", "finished 1"));
}

TEST_F(CallRunnerTest, StopsAtTheFirstCellThatFails) {
  const absl::StatusOr<CallResult> result =
      Run({{.code = "x = 1"}, {.code = "1 / 0"}, {.code = "x = 2"}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->status, CallStatus::kError);
  EXPECT_THAT(Statuses(*result), ElementsAre(kComplete, kError, kNotRun));
  EXPECT_EQ(result->cells[1].outcome.error->ename, "ZeroDivisionError");
  EXPECT_EQ(result->cells[2].runs, 0);
  EXPECT_THAT(diary_.entries,
              ElementsAre("started 0", "finished 0", "started 1", "finished 1 badly"));

  const absl::StatusOr<CallResult> after = Run({{.code = "x"}});
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(after->cells[0].outcome.result(), "1");
}

TEST_F(CallRunnerTest, CancelInterruptsTheRunningCellAndStartsNoOther) {
  diary_.on_text = [this] { runner_->Cancel(); };
  const absl::StatusOr<CallResult> result =
      Run({{.code = "x = 1"},
           {.code = "import time\nprint('in', end='')\ntime.sleep(60)"},
           {.code = "x = 2"}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->status, CallStatus::kCancelled);
  EXPECT_THAT(Statuses(*result), ElementsAre(kComplete, kCancelled, kNotRun));
  EXPECT_FALSE(result->cells[1].outcome.timed_out);
  EXPECT_EQ(result->session_state, StateAfter::kKept);
}

TEST_F(CallRunnerTest, CancelBetweenCellsStartsNoOther) {
  diary_.on_finished = [this] { runner_->Cancel(); };
  const absl::StatusOr<CallResult> result = Run({{.code = "x = 1"}, {.code = "x = 2"}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->status, CallStatus::kCancelled);
  EXPECT_THAT(Statuses(*result), ElementsAre(kComplete, kNotRun));
}

TEST_F(CallRunnerTest, CancelBeforeTheStartRunsNothing) {
  loop_->Post([this] { runner_->Cancel(); });
  const absl::StatusOr<CallResult> result = Run({{.code = "x = 1"}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->status, CallStatus::kCancelled);
  EXPECT_THAT(Statuses(*result), ElementsAre(kNotRun));
  EXPECT_TRUE(diary_.entries.empty());
}

TEST_F(CallRunnerTest, CancelByTheObserverOfTheStartRunsNothing) {
  diary_.on_started = [this] { runner_->Cancel(); };
  const absl::StatusOr<CallResult> result = Run({{.code = "print(1)"}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->status, CallStatus::kCancelled);
  EXPECT_THAT(Statuses(*result), ElementsAre(kNotRun));
  EXPECT_THAT(diary_.entries, ElementsAre("started 0"));
}

TEST_F(CallRunnerTest, SaysAfterHowLongACellTimedOut) {
  const absl::StatusOr<CallResult> result =
      Run({{.code = "import time; time.sleep(60)", .timeout = absl::Seconds(1)}, {.code = "1"}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->status, CallStatus::kCancelled);
  EXPECT_THAT(Statuses(*result), ElementsAre(kCancelled, kNotRun));
  EXPECT_TRUE(result->cells[0].outcome.timed_out);
  EXPECT_THAT(result->cells[0].outcome.notices, ElementsAre("timed out after 1 second"));
}

TEST_F(CallRunnerTest, ResetsBeforeTheCellsThatAskForIt) {
  const absl::StatusOr<CallResult> result =
      Run({{.code = "x = 1"}, {.code = "'x' in globals()", .reset = true}, {.code = "In[1]"}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->status, CallStatus::kOk);
  EXPECT_EQ(result->cells[1].outcome.result(), "False");
  EXPECT_EQ(result->cells[1].outcome.execution_count, 1u);
  EXPECT_EQ(result->cells[2].outcome.result(), "\"'x' in globals()\"");
  EXPECT_EQ(result->session_state, StateAfter::kKept);
}

TEST_F(CallRunnerTest, SaysThatTheStateIsLostAndThenThatItIsFresh) {
  absl::StatusOr<CallResult> result =
      Run({{.code = "x = 1"}, {.code = "import os; os._exit(3)"}, {.code = "x"}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->status, CallStatus::kError);
  EXPECT_THAT(Statuses(*result), ElementsAre(kComplete, kError, kNotRun));
  EXPECT_EQ(result->session_state, StateAfter::kLost);
  EXPECT_EQ(result->session_reason, "the worker exited with code 3, state lost");

  result = Run({{.code = "'x' in globals()"}, {.code = "1"}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->status, CallStatus::kOk);
  EXPECT_EQ(result->cells[0].outcome.result(), "False");
  EXPECT_EQ(result->session_state, StateAfter::kFresh);
  EXPECT_EQ(result->session_reason,
            "the worker exited with code 3; this cell ran in a fresh session");
}

TEST_F(CallRunnerTest, GathersBackgroundOutputOfTheSession) {
  ASSERT_TRUE(Run({{.code = "import asyncio\n"
                            "async def later():\n"
                            "    await asyncio.sleep(0)\n"
                            "    print('late')\n"
                            "task = asyncio.create_task(later())"}})
                  .ok());
  const absl::StatusOr<CallResult> result = Run({{.code = "await task"}, {.code = "1"}});
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->background.size(), 1u);
  EXPECT_EQ(result->background[0].text, "late\n");
  EXPECT_TRUE(result->cells[0].outcome.background.empty());
}

TEST_F(CallRunnerTest, PassesOnThatCellsCannotRunAtAll) {
  SessionOptions options;
  options.runtime.program = directory_ / "no-such-program";
  options.cwd = directory_.path();
  Session broken(*loop_, *templates_, OutputStorage{&writer_, artifacts_}, options);
  absl::Status status;
  CallRunner runner(*loop_, broken, Call{.cells = {{.code = "1"}, {.code = "2"}}}, nullptr,
                    [&](absl::StatusOr<CallResult> result) {
                      status = result.status();
                      loop_->Stop();
                    });
  loop_->Post([&] { runner.Start(); });
  loop_->Run();
  EXPECT_FALSE(status.ok());
}

TEST_F(CallRunnerTest, TellsOfAResetThoughTheCellAfterItCannotRun) {
  SessionOptions options;
  options.runtime.program = directory_ / "no-such-program";
  options.cwd = directory_.path();
  Session broken(*loop_, *templates_, OutputStorage{&writer_, artifacts_}, options);
  absl::StatusOr<CallResult> answer;
  CallRunner runner(*loop_, broken, Call{.cells = {{.code = "1", .reset = true}}}, nullptr,
                    [&](absl::StatusOr<CallResult> result) {
                      answer = std::move(result);
                      loop_->Stop();
                    });
  loop_->Post([&] { runner.Start(); });
  loop_->Run();
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_THAT(Statuses(*answer), ElementsAre(kError));
  EXPECT_EQ(answer->cells[0].outcome.error->ename, "CannotRun");
  EXPECT_EQ(answer->session_state, StateAfter::kFresh);
  EXPECT_EQ(answer->session_reason, "the session was reset for a cell that was then not run");
}

}  // namespace
}  // namespace cellar::host
