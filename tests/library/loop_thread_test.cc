#include "host/library/loop_thread.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cellar {
namespace {

class LoopThreadTest : public ::testing::Test {
 protected:
  ~LoopThreadTest() override { End(); }

  void End() {
    if (ended_) return;
    ended_ = true;
    loop_->Stop();
    thread_->Join();
  }

  std::unique_ptr<EventLoop> loop_ = *EventLoop::Create();
  std::unique_ptr<LoopThread> thread_ = *LoopThread::Start(*loop_);
  bool ended_ = false;
};

TEST_F(LoopThreadTest, ACallerRunsTheLoopItself) {
  absl::Notification answered;
  std::thread::id runner;
  EXPECT_TRUE(thread_->Await(
      [&] {
        EXPECT_TRUE(loop_->OnLoopThread());
        loop_->After(absl::Milliseconds(1), [&] {
          runner = std::this_thread::get_id();
          answered.Notify();
        });
      },
      answered));
  EXPECT_EQ(runner, std::this_thread::get_id());
  EXPECT_FALSE(loop_->OnLoopThread());
}

TEST(LoopThreadDeathTest, ACallbackThatThrowsEndsTheProgramWhoeverRunsTheLoop) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = [](bool waits) {
    std::unique_ptr<EventLoop> loop = *EventLoop::Create();
    std::unique_ptr<LoopThread> thread = *LoopThread::Start(*loop);
    absl::Notification never;
    const auto fail = [] { throw std::runtime_error("a callback's"); };
    if (waits) {
      try {
        thread->Await(fail, never);
      } catch (const std::runtime_error&) {
        std::_Exit(0);
      }
    } else {
      loop->Post(fail);
      never.WaitForNotification();
    }
  };
  EXPECT_DEATH(run(true), "a callback's");
  EXPECT_DEATH(run(false), "a callback's");
}

TEST_F(LoopThreadTest, TheThreadRunsTheLoopWhenNobodyWaits) {
  for (int i = 0; i < 3; ++i) {
    absl::Notification answered;
    thread_->Await([&] { answered.Notify(); }, answered);
    absl::Notification ran;
    std::thread::id runner;
    loop_->Post([&] {
      loop_->After(absl::Milliseconds(1), [&] {
        runner = std::this_thread::get_id();
        ran.Notify();
      });
    });
    ASSERT_TRUE(ran.WaitForNotificationWithTimeout(absl::Seconds(10)));
    EXPECT_NE(runner, std::this_thread::get_id());
  }
}

TEST_F(LoopThreadTest, WhatACallerPostedComesBeforeItsRequest) {
  for (int i = 0; i < 1000; ++i) {
    absl::Notification answered;
    bool posted = false;
    loop_->Post([&] { posted = true; });
    thread_->Await(
        [&] {
          EXPECT_TRUE(posted);
          answered.Notify();
        },
        answered);
  }
}

// They kept the thread away from descriptors, which no call that is answered at once looked at.
TEST_F(LoopThreadTest, CallsWithoutPauseLeaveDescriptorsTheirTurn) {
  UniqueFd signalled(eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
  bool seen = false;
  auto call = [this](EventLoop::Task task) {
    absl::Notification answered;
    thread_->Await(
        [&] {
          task();
          answered.Notify();
        },
        answered);
  };
  call([&] {
    ASSERT_TRUE(loop_
                    ->Watch(signalled.get(), EPOLLIN,
                            [&](uint32_t) {
                              loop_->Unwatch(signalled.get());
                              seen = true;
                            })
                    .ok());
  });
  bool told = false;
  for (int i = 0; i < 10 && !told; ++i) call([&] { told = seen; });
  EXPECT_TRUE(told);
}

TEST_F(LoopThreadTest, CallersOfManyThreadsAreAllAnswered) {
  constexpr int kThreads = 8;
  constexpr int kCalls = 500;
  int on_loop = 0;  // touched in turns only
  std::vector<std::thread> callers;
  for (int t = 0; t < kThreads; ++t) {
    callers.emplace_back([&, t] {
      for (int i = 0; i < kCalls; ++i) {
        absl::Notification answered;
        auto answer = [&] {
          ++on_loop;
          answered.Notify();
        };
        // Some at once, some from a later turn of the loop.
        EXPECT_TRUE(thread_->Await(
            [&] {
              if ((i + t) % 3 == 0) {
                answer();
              } else {
                loop_->Post(answer);
              }
            },
            answered));
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(on_loop, kThreads * kCalls);
}

TEST_F(LoopThreadTest, TheEndRefusesCallersOrAnswersThem) {
  std::atomic<bool> begun = false;
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      bool served = true;
      while (served) {
        absl::Notification answered;
        served = thread_->Await([&] { answered.Notify(); }, answered);
        begun = true;
      }
    });
  }
  while (!begun) std::this_thread::yield();
  End();
  for (std::thread& caller : callers) caller.join();
}

}  // namespace
}  // namespace cellar
