// A GoogleTest fixture for tests that drive Python cells, and matchers for their outcomes.
//
//   using cellar::testing::CellTest;
//   using cellar::testing::ResultIs;
//
//   TEST_F(CellTest, Adds) {
//     Run("x = 1");
//     EXPECT_THAT(Run("x + 1"), ResultIs("2"));
//   }
//
// Each test has a fresh session, forked in milliseconds from the one template of the test program;
// docs/testing.md shows how ctest is set up to keep it that way. A test fails when cells cannot be
// run at all, and when it leaves processes behind.
//
// Needs GTest::gmock beside cellar::cellar.
#pragma once

#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include "cellar/cellar.h"
#include "cellar/session_processes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cellar::host {

// Found by GoogleTest: what a failed expectation shows of an outcome.
inline void PrintTo(const CellOutcome& outcome, std::ostream* out) {
  *out << (outcome.ok() ? "a cell that completed" : "a cell that failed");
  if (!outcome.state_detail.empty()) *out << " (" << outcome.state_detail << ")";
  if (auto result = outcome.result()) *out << "\nresult: " << *result;
  if (auto text = outcome.stdout_text(); !text.empty()) *out << "\nstdout: " << text;
  if (auto text = outcome.stderr_text(); !text.empty()) *out << "\nstderr: " << text;
  if (outcome.error) *out << "\nerror: " << outcome.error->traceback;
}

}  // namespace cellar::host

namespace cellar::testing {

// The expected texts are strings or matchers of strings.

MATCHER(Succeeds, "completes") { return arg.ok(); }

MATCHER_P(ResultIs, expected,
          "has a result that " + ::testing::DescribeMatcher<std::string>(expected)) {
  return arg.ok() && arg.result().has_value() &&
         ::testing::ExplainMatchResult(expected, *arg.result(), result_listener);
}

MATCHER_P(Prints, expected,
          "completes with a stdout that " + ::testing::DescribeMatcher<std::string>(expected)) {
  return arg.ok() && ::testing::ExplainMatchResult(expected, arg.stdout_text(), result_listener);
}

MATCHER_P(Fails, expected,
          "has an error whose name " + ::testing::DescribeMatcher<std::string>(expected)) {
  return arg.error.has_value() &&
         ::testing::ExplainMatchResult(expected, arg.error->ename, result_listener);
}

class CellTest : public ::testing::Test {
 protected:
  // For a derived fixture: `sys_path` to the module under test, `preload`, `interpreter`, `cwd`,
  // `environment`.
  virtual SessionOptions Options() { return {}; }

  void SetUp() override {
    absl::StatusOr<Host*> host = SharedHost();
    ASSERT_TRUE(host.ok()) << "cellar could not start: " << host.status();
    absl::Status prepared = PrepareOnce(**host);
    ASSERT_TRUE(prepared.ok()) << "cellar could not prepare a session: " << prepared;
    processes_ = SessionProcesses();
    absl::StatusOr<std::unique_ptr<Session>> session = OpenSession(**host);
    ASSERT_TRUE(session.ok()) << "cellar could not open a session: " << session.status();
    session_ = *std::move(session);
  }

  void TearDown() override {
    if (session_ == nullptr) return;
    session_->Close();
    EXPECT_THAT(processes_.LeftAfter(kLeaveLimit), ::testing::IsEmpty())
        << "the test left processes behind";
  }

  CellOutcome Run(std::string code, RunOptions options = {}) {
    absl::StatusOr<CellOutcome> outcome = session_->Run(std::move(code), options);
    if (outcome.ok()) return *std::move(outcome);
    ADD_FAILURE() << "the cell could not be run: " << outcome.status();
    return CellOutcome{.status = CellStatus::kCancelled};
  }

  void Set(std::string name, const nlohmann::json& value) {
    absl::Status status = session_->Set(std::move(name), value);
    EXPECT_TRUE(status.ok()) << status;
  }

  // null when there is no such value; the test has then failed.
  nlohmann::json Get(std::string name) {
    absl::StatusOr<nlohmann::json> value = session_->Get(std::move(name));
    EXPECT_TRUE(value.ok()) << value.status();
    return value.ok() ? *std::move(value) : nlohmann::json();
  }

  Session& session() { return *session_; }

  // What is to be there before a test, and stay after it.
  virtual absl::Status PrepareOnce(Host&) { return absl::OkStatus(); }
  virtual absl::StatusOr<std::unique_ptr<Session>> OpenSession(Host& host) {
    return host.Open(Options());
  }

 private:
  // From the end of a session to the end of its last process.
  static constexpr absl::Duration kLeaveLimit = absl::Milliseconds(500);

  static absl::StatusOr<Host*> SharedHost() {
    static const absl::StatusOr<std::unique_ptr<Host>> host = Host::Start();
    if (!host.ok()) return host.status();
    return host->get();
  }

  SessionProcesses processes_;
  std::unique_ptr<Session> session_;
};

// A fixture whose tests all begin in the same state: it is prepared once, in a session of its own,
// and each test has a branch of that one, with the imports and the data in place.
class PreparedCellTest : public CellTest {
 protected:
  // The cell that prepares. Must complete.
  virtual std::string Preparation() = 0;

  absl::Status PrepareOnce(Host& host) override {
    std::unique_ptr<Session>& base = Base();
    if (base != nullptr) return absl::OkStatus();
    SessionOptions options = Options();
    options.snapshots = SnapshotOptions{.policy = SnapshotPolicy::kOff};
    absl::StatusOr<std::unique_ptr<Session>> opened = host.Open(std::move(options));
    if (!opened.ok()) return opened.status();
    absl::StatusOr<CellOutcome> outcome =
        (*opened)->Run(Preparation(), {.timeout = absl::InfiniteDuration()});
    if (!outcome.ok()) return outcome.status();
    if (!outcome->ok()) return absl::UnknownError(::testing::PrintToString(*outcome));
    base = *std::move(opened);
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<Session>> OpenSession(Host&) override {
    absl::StatusOr<Branched> branched = Base()->Branch();
    if (!branched.ok()) return branched.status();
    return std::move(branched->session);
  }

 private:
  // Of the test suite that runs now; kept for the whole program.
  static std::unique_ptr<Session>& Base() {
    static std::map<std::string, std::unique_ptr<Session>> bases;
    return bases[::testing::UnitTest::GetInstance()->current_test_info()->test_suite_name()];
  }
};

}  // namespace cellar::testing
