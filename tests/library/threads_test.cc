// Many threads of a program use one host at once, while sessions are closed and the host is
// destroyed under their hands. Every call is to be answered and nothing is to be left. That no two
// threads touch the same memory at once is for ThreadSanitizer to see.
#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cellar/cellar.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/leftovers.h"
#include "tests/testing/worker_test.h"

namespace cellar {
namespace {

using ::testing::Optional;

// Threads of the test, joined at its end.
class Crowd {
 public:
  ~Crowd() { Join(); }
  template <typename Work>
  void Add(Work work) {
    threads_.emplace_back(std::move(work));
  }
  void Join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  std::vector<std::thread> threads_;
};

class Printed : public CellObserver {
 public:
  void OnText(Stream, std::string_view text) override { text_ += text; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Whatever can be asked of a session, each of it by a thread of its own that asks again and again.
using Request = absl::Status (*)(Session&);
constexpr Request kRequests[] = {
    [](Session& session) { return session.Run("print(1)\n1").status(); },
    [](Session& session) { return session.Run("import asyncio\nawait asyncio.sleep(0)").status(); },
    [](Session& session) {
      session.Interrupt();
      return session.Run("while False: pass").status();
    },
    [](Session& session) {
      return session.Set("x", {1, 2});
    },
    [](Session& session) { return session.Get("x").status(); },
    [](Session& session) {
      (void)session.Complete("pri");
      return session.Snapshots().status();
    },
    [](Session& session) {
      (void)session.Run("y = 1");  // else cells that are about to begin would be ended for ever
      return session.Rewind().status();
    },
    [](Session& session) { return session.Branch().status(); },
};

// Threads that make all kinds of requests until they are told that there will be no answer.
class Users {
 public:
  explicit Users(Session& session) {
    for (size_t i = 0; i < std::size(kRequests); ++i) {
      crowd_.Add([this, &session, i] {
        while (!over_) {
          (void)kRequests[i](session);
          ++answers_[i];
        }
        EXPECT_EQ(kRequests[i](session).code(), absl::StatusCode::kFailedPrecondition);
      });
    }
  }
  ~Users() { Leave(); }

  // Every one of them has had so many answers.
  bool HaveAnswers(int count) {
    return testing::Eventually(
        [&] {
          return std::all_of(answers_.begin(), answers_.end(),
                             [&](const std::atomic<int>& answers) { return answers >= count; });
        },
        kSlowness * testing::kPatience);
  }
  // When the session is closed.
  void Leave() {
    over_ = true;
    crowd_.Join();
  }

 private:
  std::atomic<bool> over_ = false;
  std::array<std::atomic<int>, std::size(kRequests)> answers_ = {};
  Crowd crowd_;
};

class ThreadsTest : public LeavesNothing {
 protected:
  void SetUp() override { StartHost(); }
  void TearDown() override {
    host_.reset();
    LeavesNothing::TearDown();
  }

  void StartHost() {
    auto host = Host::Start({.bridge = &tools_});
    ASSERT_TRUE(host.ok()) << host.status();
    host_ = *std::move(host);
  }
  std::unique_ptr<Session> Open() {
    auto session = host_->Open();
    EXPECT_TRUE(session.ok()) << session.status();
    return session.ok() ? *std::move(session) : nullptr;
  }

  ToolSet tools_;  // outlives the host
  std::unique_ptr<Host> host_;
};

TEST_F(ThreadsTest, EachHasASessionOfItsOwn) {
  constexpr int kThreads = 6;
  constexpr int kRounds = 4;
  Crowd crowd;
  for (int t = 0; t < kThreads; ++t) {
    crowd.Add([this, t] {
      for (int round = 0; round < kRounds; ++round) {
        const std::string own = absl::StrCat(t * kRounds + round);
        std::unique_ptr<Session> session = Open();
        ASSERT_NE(session, nullptr);
        Printed printed;
        auto outcome =
            session->Run(absl::StrCat("x = ", own, "\nprint(x)"), {.observer = &printed});
        ASSERT_TRUE(outcome.ok()) << outcome.status();
        EXPECT_EQ(printed.text(), own + "\n");
        EXPECT_TRUE(session->Set("y", round).ok());
        host_->RenewOffer();
        auto branched = session->Branch();
        ASSERT_TRUE(branched.ok()) << branched.status();
        if (round % 2 == 0) session->Close();
        auto copied = branched->session->Run("x, y");
        ASSERT_TRUE(copied.ok()) << copied.status();
        EXPECT_THAT(copied->result(), Optional(absl::StrCat("(", own, ", ", round, ")")));
      }
    });
  }
}

TEST_F(ThreadsTest, CellsAreAnsweredByOtherThreadsWhileToolsComeAndGo) {
  Crowd answering;
  tools_.Add({.name = "later"}, [&](const BridgeCall&, BridgeReply reply) {
    answering.Add([reply] { reply({.value = "7"}); });
  });
  host_->RenewOffer();
  std::unique_ptr<Session> session = Open();
  Crowd changing;
  changing.Add([&] {
    for (int i = 0; i < 100; ++i) {
      tools_.Add({.name = "passing"}, ToolSet::Plain([](const nlohmann::json&) { return 1; }));
      tools_.SetBudget({.total = 5});
      host_->RenewOffer();
      tools_.Remove("passing");
    }
  });
  auto outcome = session->Run("sum(tool.later() for _ in range(50))");
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(outcome->result(), Optional(std::string("350"))) << outcome->error->traceback;
}

TEST_F(ThreadsTest, ASessionIsClosedByTwoWhileOthersUseIt) {
  for (int round = 0; round < 8; ++round) {
    std::unique_ptr<Session> session = Open();
    ASSERT_NE(session, nullptr);
    Users users(*session);
    EXPECT_TRUE(users.HaveAnswers(round / 2));
    Crowd closing;
    for (int i = 0; i < 2; ++i) closing.Add([&] { session->Close(); });
    closing.Join();
  }
}

TEST_F(ThreadsTest, TheHostIsDestroyedWhileSessionsAreUsedAndClosed) {
  for (int round = 0; round < 8; ++round) {
    if (host_ == nullptr) StartHost();
    std::unique_ptr<Session> session = Open();
    std::unique_ptr<Session> other = Open();
    ASSERT_TRUE(session != nullptr && other != nullptr);
    Users users(*session);
    EXPECT_TRUE(users.HaveAnswers(round / 2));
    Crowd closing;
    closing.Add([&] { other->Close(); });
    host_.reset();
  }
}

}  // namespace
}  // namespace cellar
