// Templates: what sessions find already imported, and what happens when one cannot start.
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/leftovers.h"
#include "tests/testing/loop_session.h"
#include "tests/testing/scratch_directory.h"
#include "tests/testing/worker_test.h"

namespace cellar::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class TemplateTest : public LeavesNothing {
 protected:
  TemplateTest() { std::filesystem::create_directory(modules()); }

  void TearDown() override {
    session_.reset();
    LeavesNothing::TearDown();
  }

  std::string modules() const { return scratch_ / "modules"; }
  void WriteModule(const std::string& name, const std::string& code) {
    std::ofstream(std::filesystem::path(modules()) / (name + ".py")) << code;
  }

  // The environment has PYTHONPATH=modules().
  void Open(std::vector<std::string> preload, host::Environment environment = {}) {
    environment.insert({"PYTHONPATH", modules()});
    absl::StatusOr<host::Launch> launch =
        LoopSession::Prepare(scratch_.path(), std::move(environment), std::move(preload));
    ASSERT_TRUE(launch.ok()) << launch.status();
    OpenWith(*std::move(launch));
  }
  void OpenWith(host::Launch launch) {
    session_ = std::make_unique<LoopSession>(std::move(launch.session), scratch_ / "artifacts");
  }

  CellOutcome Run(std::string code) {
    absl::StatusOr<CellOutcome> outcome = session_->Run(std::move(code));
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    return outcome.ok() ? *std::move(outcome) : CellOutcome{.status = CellStatus::kError};
  }
  // Why no cell can be run.
  absl::Status Refusal() { return session_->Run("1").status(); }

  ScratchDirectory scratch_;
  std::unique_ptr<LoopSession> session_;
};

MATCHER_P(Says, text, "says " + ::testing::PrintToString(text)) {
  return ::testing::ExplainMatchResult(HasSubstr(text), std::string(arg.message()),
                                       result_listener);
}

TEST_F(TemplateTest, PreloadsAreImportedAndNotInTheNamespace) {
  WriteModule("counted", "import os\nimported_by = os.getpid()\n");
  Open({"counted", "decimal"});
  EXPECT_THAT(
      Run("import sys\n'counted' in sys.modules, 'decimal' in sys.modules, 'counted' in globals()"),
      ResultIs("(True, True, False)"));
  EXPECT_THAT(Run("import os, counted\ncounted.imported_by == os.getpid()"), ResultIs("False"));
  EXPECT_THAT(session_->warnings(), IsEmpty());
}

TEST_F(TemplateTest, APreloadThatFailsIsAWarning) {
  WriteModule("broken", "1 / 0");
  Open({"broken", "no_such_module", "decimal"});
  EXPECT_THAT(Run("import sys\n'decimal' in sys.modules"), ResultIs("True"));
  EXPECT_THAT(session_->warnings(),
              ElementsAre(AllOf(HasSubstr("broken"), HasSubstr("division by zero")),
                          HasSubstr("No module named 'no_such_module'")));
}

TEST_F(TemplateTest, MorePreloadsThanAMessageHoldsAreAnErrorThatSaysSo) {
  Open(std::vector<std::string>(6000, "decimal_and_more"));
  absl::Status refusal = Refusal();
  EXPECT_EQ(refusal.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(refusal, Says("64 KiB is the most"));
}

TEST_F(TemplateTest, APreloadThatExitsIsAWarning) {
  WriteModule("exits", "import sys\nsys.exit(3)");
  Open({"exits"});
  EXPECT_THAT(Run("6 * 7"), ResultIs("42"));
  EXPECT_THAT(session_->warnings(), ElementsAre(HasSubstr("exits")));
}

TEST_F(TemplateTest, APreloadThatStartsAThreadIsLeftOutWithAWarning) {
  WriteModule("threaded",
              "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,), "
              "daemon=True).start()");
  Open({"decimal", "threaded", "fractions"});
  EXPECT_THAT(
      Run("import sys\n[name in sys.modules for name in ('decimal', 'threaded', 'fractions')]"),
      ResultIs("[True, False, True]"));
  EXPECT_THAT(session_->warnings(), ElementsAre(AllOf(HasSubstr("threaded"), HasSubstr("thread"))));
  EXPECT_THAT(Run("import threaded\nimport threading\nthreading.active_count()"), ResultIs("2"));
}

TEST_F(TemplateTest, WhatAPreloadPrintsIsNoOutputOfACell) {
  WriteModule("chatty", "print('imported')\nimport sys\nprint('too', file=sys.stderr)");
  Open({"chatty"});
  EXPECT_THAT(Run("print('mine')"), Prints("mine\n"));
}

TEST_F(TemplateTest, APreloadThatCrashesIsAnErrorThatSaysSo) {
  WriteModule("crashes", "import os\nos.abort()");
  Open({"crashes"});
  absl::Status refusal = Refusal();
  EXPECT_EQ(refusal.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(refusal, Says("ended before it was ready"));
}

TEST_F(TemplateTest, AnInterpreterThatHangsAtStartIsAnErrorInTime) {
  WriteModule("sitecustomize", "import time\ntime.sleep(1000)");
  absl::StatusOr<host::Launch> launch =
      LoopSession::Prepare(scratch_.path(), {{"PYTHONPATH", modules()}});
  ASSERT_TRUE(launch.ok()) << launch.status();
  launch->session.runtime.start_limit_s = 1;
  OpenWith(*std::move(launch));
  const absl::Time start = absl::Now();
  absl::Status refusal = Refusal();
  EXPECT_LT(absl::Now() - start, absl::Seconds(3));
  EXPECT_EQ(refusal.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(refusal, Says("Python did not start within 1 s"));
}

TEST_F(TemplateTest, WhatTheInterpreterSaidLastIsPartOfTheError) {
  WriteModule("sitecustomize", "import os\nos.write(2, b'the disk is on fire\\n')\nos._exit(3)");
  Open({});
  EXPECT_THAT(Refusal(), Says("the disk is on fire"));
}

TEST_F(TemplateTest, TheLastOfMuchThatTheInterpreterSaidIsPartOfTheError) {
  WriteModule("sitecustomize",
              "import os\nos.write(2, b'.' * 50_000 + b'the disk is on fire\\n')\nos._exit(3)");
  Open({});
  EXPECT_THAT(Refusal(), Says("the disk is on fire"));
}

TEST_F(TemplateTest, ABadPythonHomeIsAnErrorThatSaysSo) {
  absl::StatusOr<host::Launch> launch = LoopSession::Prepare(scratch_.path());
  ASSERT_TRUE(launch.ok()) << launch.status();
  launch->session.runtime.home = "/no/such/home";
  OpenWith(*std::move(launch));
  absl::Status refusal = Refusal();
  EXPECT_EQ(refusal.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(refusal, Says("Python could not start"));
}

TEST_F(TemplateTest, ABadPythonHomeInTheEnvironmentIsAnErrorThatSaysSo) {
  Open({}, {{"PYTHONHOME", "/no/such/home"}});
  absl::Status refusal = Refusal();
  EXPECT_EQ(refusal.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(refusal, Says("Python could not start"));
}

TEST_F(TemplateTest, AnInterpreterThatCannotStartIsTriedAgainForTheNextCell) {
  WriteModule("sitecustomize",
              "import os\nif not os.path.exists(os.environ['HOME'] + '/mended'): os._exit(3)");
  Open({});
  EXPECT_EQ(Refusal().code(), absl::StatusCode::kUnavailable);
  std::ofstream(scratch_ / "mended").close();
  EXPECT_THAT(Run("6 * 7"), ResultIs("42"));
}

TEST_F(TemplateTest, AMissingWorkerProgramIsNamed) {
  absl::Status missing =
      host::PrepareLaunch({.env = {{"PATH", "/usr/bin:/bin"}, {"HOME", scratch_.path()}},
                           .cwd = scratch_.path(),
                           .worker_program = "/no/such/worker"})
          .status();
  EXPECT_THAT(missing, Says("/no/such/worker"));
}

TEST_F(TemplateTest, AWorkerProgramThatVanishedIsNamed) {
  absl::StatusOr<host::Launch> launch = LoopSession::Prepare(scratch_.path());
  ASSERT_TRUE(launch.ok()) << launch.status();
  launch->session.runtime.program = "/no/such/worker";
  OpenWith(*std::move(launch));
  EXPECT_THAT(Refusal(), Says("/no/such/worker"));
}

TEST_F(TemplateTest, AWorkerProgramOfAnotherVersionIsRefused) {
  absl::StatusOr<host::Launch> launch = LoopSession::Prepare(scratch_.path());
  ASSERT_TRUE(launch.ok()) << launch.status();
  launch->session.runtime.program = CELLAR_OTHER_VERSION_WORKER;
  OpenWith(*std::move(launch));
  absl::Status refusal = Refusal();
  EXPECT_EQ(refusal.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(refusal, AllOf(Says("another version"), Says(CELLAR_OTHER_VERSION_WORKER)));
}

TEST_F(TemplateTest, AProgramThatIsNoWorkerIsRefused) {
  absl::StatusOr<host::Launch> launch = LoopSession::Prepare(scratch_.path());
  ASSERT_TRUE(launch.ok()) << launch.status();
  launch->session.runtime.program = "/bin/true";
  OpenWith(*std::move(launch));
  EXPECT_THAT(Refusal(), Says("/bin/true ended before it was ready"));
}

TEST_F(TemplateTest, ASessionDirectoryThatIsGoneIsAnErrorThatSaysSo) {
  absl::StatusOr<host::Launch> launch = LoopSession::Prepare(scratch_.path());
  ASSERT_TRUE(launch.ok()) << launch.status();
  launch->session.cwd = scratch_ / "gone";
  OpenWith(*std::move(launch));
  EXPECT_THAT(Refusal(), Says("gone"));
}

}  // namespace
}  // namespace cellar::testing
