// A registry and a call service on a loop that the test itself runs. CELLAR_WORKER names the worker
// program.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cellar/session_processes.h"
#include "host/eval/call_service.h"
#include "host/session/registry.h"
#include "tests/testing/scratch_directory.h"

namespace cellar::host {

class CallsTest : public testing::Test {
 protected:
  static constexpr absl::Duration kDeadline = absl::Seconds(60);

  void SetUp() override {
    const char* worker = std::getenv("CELLAR_WORKER");
    ASSERT_NE(worker, nullptr) << "CELLAR_WORKER is not set";
    query_ = {.env = {{"PATH", "/usr/bin:/bin"}, {"HOME", directory_.path()}},
              .cwd = directory_.path(),
              .worker_program = worker};
    loop_ = *EventLoop::Create();
    templates_ = std::make_unique<TemplatePool>(*loop_);
    Start({});
  }

  // Anew, with other limits and settings.
  void Start(SessionLimits limits, std::function<void(Launch&)> change = nullptr) {
    Stop();
    absl::StatusOr<Launch> launch = PrepareLaunch(query_);
    ASSERT_TRUE(launch.ok()) << launch.status();
    if (change) change(*launch);
    launcher_ = std::make_unique<Launcher>(*loop_, query_, *std::move(launch));
    registry_ = std::make_unique<SessionRegistry>(
        *loop_, *templates_, OutputStorage{&writer_, artifacts_}, *launcher_, limits);
    service_ = std::make_unique<CallService>(*loop_, *registry_);
  }

  void Stop() {
    if (registry_ == nullptr) return;
    bool closed = false;
    registry_->CloseAll([&] { closed = true; });
    RunUntil([&] { return closed; });
    service_.reset();
    registry_.reset();
    launcher_.reset();
  }

  void TearDown() override {
    Stop();
    templates_.reset();
    EXPECT_THAT(processes_.LeftAfter(absl::Seconds(2)), testing::IsEmpty());
  }

  // Runs the loop until the predicate holds, to a deadline.
  void RunUntil(const std::function<bool()>& predicate) {
    const absl::Time deadline = absl::Now() + kDeadline;
    while (!predicate()) {
      ASSERT_LT(absl::Now(), deadline) << "what the test waits for never came";
      loop_->After(absl::Milliseconds(2), [this] { loop_->Stop(); });
      loop_->Run();
    }
  }

  struct Pending {
    CallId id = 0;
    std::optional<absl::StatusOr<CallResult>> result;
  };

  std::unique_ptr<Pending> Submit(Call call, CallObserver* observer = nullptr) {
    auto pending = std::make_unique<Pending>();
    pending->id = service_->Submit(std::move(call), observer,
                                   [p = pending.get()](absl::StatusOr<CallResult> result) {
                                     EXPECT_FALSE(p->result) << "a second result of one call";
                                     p->result = std::move(result);
                                   });
    return pending;
  }

  absl::StatusOr<CallResult> Finish(Pending& pending) {
    RunUntil([&] { return pending.result.has_value(); });
    if (!pending.result) return absl::DeadlineExceededError("no result");
    return *std::move(pending.result);
  }

  absl::StatusOr<CallResult> Run(Call call) { return Finish(*Submit(std::move(call))); }
  absl::StatusOr<CallResult> Run(const std::string& session, const std::string& code) {
    return Run({.session = session, .cells = {{.code = code}}});
  }
  // The value of the one cell; a failed cell is a failed test.
  std::string Value(const std::string& session, const std::string& code) {
    absl::StatusOr<CallResult> result = Run(session, code);
    return result.ok() ? ValueOf(*result) : std::string(result.status().message());
  }
  static std::string ValueOf(const CallResult& result) {
    const CellOutcome& outcome = result.cells.back().outcome;
    if (outcome.error) return outcome.error->ename + ": " + outcome.error->evalue;
    return outcome.result().value_or("nothing");
  }

  std::vector<SessionInfo> List() {
    std::optional<std::vector<SessionInfo>> listed;
    registry_->List([&](std::vector<SessionInfo> infos) { listed = std::move(infos); });
    RunUntil([&] { return listed.has_value(); });
    return listed.value_or(std::vector<SessionInfo>());
  }

  std::string MakeDirectory(const std::string& name) {
    std::filesystem::create_directories(directory_ / name);
    return std::filesystem::canonical(directory_ / name).string();
  }
  std::string ReadFile(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(directory_ / name).rdbuf();
    return text.str();
  }
  // Waits until a cell has written the file.
  void WaitForFile(const std::string& name) {
    RunUntil([&] { return std::filesystem::exists(directory_ / name); });
  }

  SessionProcesses processes_;
  ScratchDirectory directory_;
  LaunchQuery query_;
  SpillWriter writer_;
  ArtifactStore artifacts_{(directory_ / "artifacts").string()};
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<TemplatePool> templates_;
  std::unique_ptr<Launcher> launcher_;
  std::unique_ptr<SessionRegistry> registry_;
  std::unique_ptr<CallService> service_;
};

}  // namespace cellar::host
