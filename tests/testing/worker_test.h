// Cells in real worker processes: a fixture with a session, and cells that run while the test goes
// on.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "cellar/cellar.h"
#include "cellar/session_processes.h"
#include "cellar/testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/scratch_directory.h"

namespace cellar::testing {

// For what must come, on a machine that may be busy.
inline constexpr absl::Duration kPatience = absl::Seconds(10);

// False when it has not become true in time.
inline bool Eventually(absl::FunctionRef<bool()> predicate, absl::Duration limit = kPatience) {
  for (const absl::Time deadline = absl::Now() + limit; absl::Now() < deadline;) {
    if (predicate()) return true;
    absl::SleepFor(absl::Milliseconds(1));
  }
  return predicate();
}

// Remembers what a cell prints, and when it came.
class Watcher : public CellObserver {
 public:
  void OnText(Stream, std::string_view text) override { Add(text, text_); }
  void OnBackgroundText(Stream, std::string_view text) override { Add(text, background_); }

  // The time at which `text` was complete, or nothing when it did not come.
  std::optional<absl::Time> WaitFor(std::string_view text) {
    absl::MutexLock lock(&mutex_);
    auto has_come = [this, text] {
      mutex_.AssertHeld();
      return text_.find(text) != std::string::npos;
    };
    if (!mutex_.AwaitWithTimeout(absl::Condition(&has_come), kPatience)) return std::nullopt;
    return last_;
  }
  std::string text() {
    absl::MutexLock lock(&mutex_);
    return text_;
  }
  std::string background() {
    absl::MutexLock lock(&mutex_);
    return background_;
  }

 private:
  void Add(std::string_view text, std::string& to) {
    absl::MutexLock lock(&mutex_);
    to += text;
    last_ = absl::Now();
  }

  absl::Mutex mutex_;
  std::string text_;
  std::string background_;
  absl::Time last_;
};

// A cell that runs on a thread of its own until Join().
class StartedCell {
 public:
  StartedCell(Session& session, std::string code, absl::Duration timeout = absl::ZeroDuration())
      : thread_([this, &session, code = std::move(code), timeout]() mutable {
          outcome_ = session.Run(std::move(code), {.timeout = timeout, .observer = &watcher_});
        }) {}
  ~StartedCell() {
    if (thread_.joinable()) thread_.join();
  }

  // Returns when the cell has printed it; a test that goes on too early would test nothing.
  std::optional<absl::Time> WaitFor(std::string_view text) {
    std::optional<absl::Time> when = watcher_.WaitFor(text);
    EXPECT_TRUE(when.has_value()) << "the cell has not printed " << text;
    return when;
  }

  // What it has printed so far.
  std::string text() { return watcher_.text(); }

  CellOutcome Join() {
    thread_.join();
    if (outcome_->ok()) return **std::move(outcome_);
    ADD_FAILURE() << "the cell could not be run: " << outcome_->status();
    return CellOutcome{.status = CellStatus::kCancelled};
  }

 private:
  Watcher watcher_;
  std::optional<absl::StatusOr<CellOutcome>> outcome_;
  std::thread thread_;
};

// One host for each grace, for the whole program: each starts Python once.
inline Host& SharedHost(absl::Duration grace) {
  struct Hosts {
    ScratchDirectory artifacts;
    std::map<absl::Duration, std::unique_ptr<Host>> by_grace;
  };
  static Hosts hosts;
  std::unique_ptr<Host>& host = hosts.by_grace[grace];
  if (host == nullptr) {
    absl::StatusOr<std::unique_ptr<Host>> started =
        Host::Start({.interrupt_grace = grace, .artifacts_directory = hosts.artifacts.path()});
    if (!started.ok()) ADD_FAILURE() << started.status();
    host = *std::move(started);
  }
  return *host;
}

class WorkerTest : public ::testing::Test {
 protected:
  explicit WorkerTest(absl::Duration grace = absl::Seconds(3)) : host_(SharedHost(grace)) {}

  // Without snapshots: whether one was taken in time would depend on the machine.
  virtual SessionOptions Options() {
    return {.snapshots = SnapshotOptions{.policy = SnapshotPolicy::kOff}};
  }

  void SetUp() override {
    absl::StatusOr<std::unique_ptr<Session>> session = host_.Open(Options());
    ASSERT_TRUE(session.ok()) << session.status();
    session_ = *std::move(session);
  }

  void TearDown() override {
    if (session_ == nullptr) return;
    session_->Close();
    EXPECT_THAT(processes_.LeftAfter(kSlowness * absl::Milliseconds(500)), ::testing::IsEmpty())
        << "the test left processes behind";
  }

  CellOutcome Run(std::string code, RunOptions options = {}) {
    absl::StatusOr<CellOutcome> outcome = session_->Run(std::move(code), options);
    if (outcome.ok()) return *std::move(outcome);
    ADD_FAILURE() << "the cell could not be run: " << outcome.status();
    return CellOutcome{.status = CellStatus::kCancelled};
  }

  // The result of an expression that must have one.
  std::string Evaluate(std::string expression) {
    CellOutcome outcome = Run(std::move(expression));
    EXPECT_TRUE(outcome.result().has_value()) << ::testing::PrintToString(outcome);
    return outcome.result().value_or("");
  }

  Session& session() { return *session_; }
  Host& host() { return host_; }

 private:
  Host& host_;
  SessionProcesses processes_;
  std::unique_ptr<Session> session_;
};

}  // namespace cellar::testing
