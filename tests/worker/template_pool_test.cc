// How many templates a host keeps.
#include "host/worker/template_pool.h"

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "host/session/launch.h"
#include "host/session/session.h"
#include "tests/testing/leftovers.h"
#include "tests/testing/loop_session.h"
#include "tests/testing/process_stat.h"
#include "tests/testing/scratch_directory.h"
#include "tests/testing/worker_test.h"

namespace cellar::testing {
namespace {

class TemplatePoolTest : public LeavesNothing {
 protected:
  void Start(host::TemplateLimits limits) {
    loop_ = *EventLoop::Create();
    pool_ = std::make_unique<host::TemplatePool>(*loop_, limits);
  }

  void TearDown() override {
    pool_.reset();
    loop_.reset();
    LeavesNothing::TearDown();
  }

  // Each is of another template, which has imported `module`; the worker runs.
  std::unique_ptr<host::Session> Open(const std::string& module) {
    absl::StatusOr<host::Launch> launch = LoopSession::Prepare(scratch_.path(), {}, {module});
    EXPECT_TRUE(launch.ok()) << launch.status();
    auto session = std::make_unique<host::Session>(
        *loop_, *pool_, host::OutputStorage{&writer_, host::ArtifactStore(scratch_.path())},
        launch->session);
    EXPECT_EQ(Result(*session, "1"), "1");
    return session;
  }
  void Close(std::unique_ptr<host::Session> session) {
    bool closed = false;
    session->Close([&] { closed = true; });
    EXPECT_TRUE(RunUntil([&] { return closed; }));
  }

  std::string Result(host::Session& session, const std::string& code) {
    std::optional<absl::StatusOr<CellOutcome>> outcome;
    session.Run({.code = code}, [&](absl::StatusOr<CellOutcome> ended) { outcome = ended; });
    EXPECT_TRUE(RunUntil([&] { return outcome.has_value(); }));
    return outcome && outcome->ok() ? (*outcome)->result().value_or("nothing") : "failed";
  }

  bool RunUntil(absl::FunctionRef<bool()> predicate) {
    return Eventually([&] {
      loop_->After(absl::Milliseconds(1), [this] { loop_->Stop(); });
      loop_->Run();
      return predicate();
    });
  }

  static std::vector<pid_t> Templates() {
    std::vector<pid_t> pids;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      pid_t pid = 0;
      if (!absl::SimpleAtoi(entry.path().filename().string(), &pid)) continue;
      const std::optional<ProcessStat> stat = StatOf(pid);
      if (stat && stat->parent == getpid()) pids.push_back(pid);
    }
    return pids;
  }
  static size_t CountTemplates() { return Templates().size(); }

  ScratchDirectory scratch_;
  host::SpillWriter writer_;
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<host::TemplatePool> pool_;
};

TEST_F(TemplatePoolTest, TemplatesOfClosedSessionsDoNotPileUp) {
  Start({.unused = absl::Milliseconds(50)});
  std::unique_ptr<host::Session> open = Open("decimal");
  for (const char* module : {"fractions", "statistics", "colorsys"}) Close(Open(module));
  EXPECT_TRUE(RunUntil([] { return CountTemplates() == 2; }))
      << "the one that is used, and the one that was asked for last; there are "
      << CountTemplates();
  EXPECT_EQ(Result(*open, "2"), "2");
  Close(std::move(open));
}

TEST_F(TemplatePoolTest, ABranchUsesTheTemplateOfItsOrigin) {
  Start({.unused = absl::Milliseconds(50)});
  std::unique_ptr<host::Session> origin = Open("decimal");
  std::unique_ptr<host::Session> branch;
  origin->Branch({}, [&](absl::StatusOr<host::Branched> made) {
    if (made.ok()) branch = std::move(made->session);
  });
  ASSERT_TRUE(RunUntil([&] { return branch != nullptr; }));
  Close(std::move(origin));
  for (const char* module : {"fractions", "statistics"}) Close(Open(module));
  EXPECT_TRUE(RunUntil([] { return CountTemplates() == 2; }));
  EXPECT_EQ(Result(*branch, "2"), "2");
  Close(std::move(branch));
}

TEST_F(TemplatePoolTest, TheOneThatWasUnusedLongestMakesRoom) {
  Start({.count = 2});
  for (const char* module : {"decimal", "fractions", "statistics"}) Close(Open(module));
  EXPECT_TRUE(RunUntil([] { return CountTemplates() == 2; })) << CountTemplates();
}

// The loop waited for the debugger.
TEST_F(TemplatePoolTest, OneThatDiesUnderADebuggerHoldsUpNobody) {
  Start({});
  std::unique_ptr<host::Session> session = Open("decimal");
  const pid_t source = Templates().front();
  const pid_t debugger = fork();
  if (debugger == 0) {
    close_range(0, ~0u, 0);  // the ends of sockets that others wait for
    if (ptrace(PTRACE_SEIZE, source, nullptr, nullptr) != 0) _exit(1);
    kill(source, SIGKILL);
    while (true) pause();
  }
  int status = 0;
  ASSERT_TRUE(RunUntil([&] {
    const std::optional<ProcessStat> stat = StatOf(source);
    return waitpid(debugger, &status, WNOHANG) != 0 || (stat && stat->state == 'Z');
  }));
  if (status != 0) {
    Close(std::move(session));
    GTEST_SKIP() << "processes cannot be traced here";
  }
  EXPECT_EQ(Result(*session, "2"), "2");
  std::unique_ptr<host::Session> other = Open("decimal");
  Close(std::move(other));
  Close(std::move(session));
  kill(debugger, SIGKILL);
  waitpid(debugger, nullptr, 0);
  EXPECT_TRUE(RunUntil([&] { return !StatOf(source); })) << "it stays as a zombie";
}

}  // namespace
}  // namespace cellar::testing
