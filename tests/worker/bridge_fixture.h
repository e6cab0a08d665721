// Sessions whose cells can call a set of tools that answer in every way, or not at all.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cellar/cellar.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/worker_test.h"

namespace cellar::testing {

// Calls that were started, with the way to answer them, and those that were cancelled.
class CallLog {
 public:
  void Add(const BridgeCall& call, BridgeReply reply) {
    std::lock_guard lock(mutex_);
    calls_.emplace_back(call, std::move(reply));
  }
  void AddCancelled(uint64_t call) {
    std::lock_guard lock(mutex_);
    cancelled_.push_back(call);
  }
  void Clear() {
    std::lock_guard lock(mutex_);
    calls_.clear();
    cancelled_.clear();
  }

  std::vector<std::pair<BridgeCall, BridgeReply>> calls() {
    std::lock_guard lock(mutex_);
    return calls_;
  }
  std::vector<uint64_t> cancelled() {
    std::lock_guard lock(mutex_);
    return cancelled_;
  }
  std::vector<uint64_t> started() {
    std::vector<uint64_t> ids;
    for (const auto& [call, reply] : calls()) ids.push_back(call.id);
    return ids;
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<BridgeCall, BridgeReply>> calls_;
  std::vector<uint64_t> cancelled_;
};

// Work that answers calls on threads of the test's, all joined at its end.
class Threads {
 public:
  ~Threads() { Join(); }
  template <typename Work>
  void Start(Work work) {
    std::lock_guard lock(mutex_);
    threads_.emplace_back(std::move(work));
  }
  void Join() {
    std::vector<std::thread> threads;
    {
      std::lock_guard lock(mutex_);
      threads.swap(threads_);
    }
    for (std::thread& thread : threads) thread.join();
  }

 private:
  std::mutex mutex_;
  std::vector<std::thread> threads_;
};

class BridgeTest : public ::testing::Test {
 protected:
  static constexpr int kMeeting = 16;  // calls that "meet" waits for

  void SetUp() override {
    if (tools_ == nullptr) StartHost();
    log_->Clear();
    session_ = Open();
  }
  void TearDown() override {
    session_.reset();
    threads_.Join();
    EXPECT_THAT(processes_.LeftAfter(kSlowness * absl::Milliseconds(500)), ::testing::IsEmpty());
  }
  static void TearDownTestSuite() {
    host_.reset();
    tools_.reset();
  }

  std::unique_ptr<Session> Open() {
    // Without snapshots: whether one was taken in time would depend on the machine.
    absl::StatusOr<std::unique_ptr<Session>> session = host_->Open(
        {.id = "the session", .snapshots = SnapshotOptions{.policy = SnapshotPolicy::kOff}});
    if (!session.ok()) {
      ADD_FAILURE() << session.status();
      return nullptr;
    }
    auto outcome = (*session)->Run(
        "from cellar_runtime import bridge\n"
        "import asyncio, os, threading, time\n"
        "call, acall = bridge.host.call, bridge.host.acall");
    EXPECT_TRUE(outcome.ok() && outcome->ok());
    return *std::move(session);
  }

  CellOutcome Run(std::string code, RunOptions options = {}) {
    absl::StatusOr<CellOutcome> outcome = session_->Run(std::move(code), options);
    if (outcome.ok()) return *std::move(outcome);
    ADD_FAILURE() << "the cell could not be run: " << outcome.status();
    return CellOutcome{.status = CellStatus::kCancelled};
  }

  // Starts the cell and returns when that many calls wait in the log.
  std::unique_ptr<StartedCell> StartCalling(std::string code, size_t calls,
                                            absl::Duration timeout = absl::ZeroDuration()) {
    auto cell = std::make_unique<StartedCell>(*session_, std::move(code), timeout);
    EXPECT_TRUE(Eventually([&] { return log_->calls().size() == calls; }));
    return cell;
  }

  // Every call that was started has been given up, once.
  void ExpectAllCancelled() {
    EXPECT_TRUE(Eventually([] { return log_->cancelled().size() >= log_->started().size(); }));
    EXPECT_THAT(log_->cancelled(), ::testing::UnorderedElementsAreArray(log_->started()));
  }

  Session& session() { return *session_; }

  static inline std::unique_ptr<ToolSet> tools_;
  static inline std::unique_ptr<Host> host_;
  static inline std::unique_ptr<CallLog> log_;
  static inline Threads threads_;

 private:
  static void StartHost() {
    log_ = std::make_unique<CallLog>();
    tools_ = std::make_unique<ToolSet>();
    tools_->OnCancel([](uint64_t call) { log_->AddCancelled(call); });
    tools_->Add({.name = "echo",
                 .description = "Gives back what it is given.",
                 .schema = R"({"type": "object", "properties": {"text": {"type": "string"}}})"},
                ToolSet::Plain([](const nlohmann::json& args) { return args; }));
    tools_->Serve("fail", ToolSet::Plain([](const nlohmann::json&) {
                    return absl::NotFoundError("there is no such file: ünknown");
                  }));
    tools_->Serve("throw", ToolSet::Plain([](const nlohmann::json& args) -> nlohmann::json {
                    return args.value("a", 0);
                  }));
    tools_->Serve("never", [](const BridgeCall& call, BridgeReply reply) {
      log_->Add(call, std::move(reply));
    });
    // Answers with the JSON text that it is given, well-formed or not.
    tools_->Serve("raw", [](const BridgeCall& call, const BridgeReply& reply) {
      reply({.value = nlohmann::json::parse(call.args).get<std::string>()});
      reply({.value = "\"a second answer\""});
    });
    tools_->Serve("slow", [](const BridgeCall&, BridgeReply reply) {
      threads_.Start([reply] {
        absl::SleepFor(absl::Seconds(1));
        reply({.value = "\"slow\""});
      });
    });
    // Answers when so many calls wait that only calls made at the same time can.
    tools_->Serve("meet", [](const BridgeCall& call, BridgeReply reply) {
      static std::vector<std::pair<std::string, BridgeReply>> waiting;
      waiting.emplace_back(call.args, std::move(reply));
      if (waiting.size() < kMeeting) return;
      for (auto& [args, answer] : std::exchange(waiting, {})) answer({.value = args});
    });
    absl::StatusOr<std::unique_ptr<Host>> host = Host::Start(
        {.artifacts_directory = ::testing::TempDir() + "/artifacts", .bridge = tools_.get()});
    ASSERT_TRUE(host.ok()) << host.status();
    host_ = *std::move(host);
  }

  SessionProcesses processes_;
  std::unique_ptr<Session> session_;
};

}  // namespace cellar::testing
