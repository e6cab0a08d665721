#include "host/base/event_loop.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "host/base/fds.h"

namespace cellar {
namespace {

using ::testing::ElementsAre;

class EventLoopTest : public ::testing::Test {
 protected:
  std::unique_ptr<EventLoop> loop_ = *EventLoop::Create();
};

TEST_F(EventLoopTest, RunsPostedWorkInOrderAndThenStops) {
  std::vector<int> order;
  loop_->Post([&] { order.push_back(1); });
  loop_->Post([&] { order.push_back(2); });
  loop_->Stop();
  loop_->Run();
  EXPECT_THAT(order, ElementsAre(1, 2));
}

TEST_F(EventLoopTest, RunsWorkThatPostedWorkPosts) {
  bool ran = false;
  loop_->Post([&] {
    loop_->Post([&] {
      ran = true;
      loop_->Stop();
    });
  });
  loop_->Run();
  EXPECT_TRUE(ran);
}

TEST_F(EventLoopTest, FiresTimersInOrderOfTheirDeadlines) {
  std::vector<int> order;
  loop_->After(absl::Milliseconds(20), [&] {
    order.push_back(2);
    loop_->Stop();
  });
  loop_->After(absl::Milliseconds(1), [&] { order.push_back(1); });
  loop_->Run();
  EXPECT_THAT(order, ElementsAre(1, 2));
}

TEST_F(EventLoopTest, AnEndlessDelayDoesNotEnd) {
  bool fired = false;
  loop_->After(absl::InfiniteDuration(), [&] { fired = true; });
  loop_->After(absl::Milliseconds(5), [&] { loop_->Stop(); });
  loop_->Run();
  EXPECT_FALSE(fired);
}

TEST_F(EventLoopTest, NeverFiresACancelledTimer) {
  bool fired = false;
  EventLoop::TimerId timer = loop_->After(absl::Milliseconds(1), [&] { fired = true; });
  loop_->Cancel(timer);
  loop_->After(absl::Milliseconds(5), [&] { loop_->Stop(); });
  loop_->Run();
  EXPECT_FALSE(fired);
}

TEST_F(EventLoopTest, TellsWhenADescriptorIsReadable) {
  Pipe pipe = *MakePipe();
  std::string seen;
  ASSERT_TRUE(loop_
                  ->Watch(pipe.read.get(), EPOLLIN,
                          [&](uint32_t) {
                            char byte;
                            ASSERT_EQ(read(pipe.read.get(), &byte, 1), 1);
                            seen += byte;
                            if (seen.size() == 2) loop_->Stop();
                          })
                  .ok());
  ASSERT_EQ(write(pipe.write.get(), "ab", 2), 2);
  loop_->Run();
  EXPECT_EQ(seen, "ab");
  loop_->Unwatch(pipe.read.get());
}

TEST_F(EventLoopTest, ACallbackMayUnwatchItselfAndItsNeighbours) {
  Pipe first = *MakePipe();
  Pipe second = *MakePipe();
  int calls = 0;
  auto callback = [&](uint32_t) {
    ++calls;
    loop_->Unwatch(first.read.get());
    loop_->Unwatch(second.read.get());
    loop_->After(absl::Milliseconds(2), [&] { loop_->Stop(); });
  };
  ASSERT_TRUE(loop_->Watch(first.read.get(), EPOLLIN, callback).ok());
  ASSERT_TRUE(loop_->Watch(second.read.get(), EPOLLIN, callback).ok());
  ASSERT_EQ(write(first.write.get(), "x", 1), 1);
  ASSERT_EQ(write(second.write.get(), "x", 1), 1);
  loop_->Run();
  EXPECT_EQ(calls, 1);
}

TEST_F(EventLoopTest, ADescriptorCanBeWatchedForSomethingElse) {
  Pipe pipe = *MakePipe();
  ASSERT_TRUE(WriteAll(pipe.write.get(), "x"));
  int seen = 0;
  ASSERT_TRUE(loop_->Watch(pipe.read.get(), 0, [&](uint32_t) { ++seen; }).ok());
  loop_->After(absl::Milliseconds(5), [&] {
    EXPECT_EQ(seen, 0);
    loop_->Rewatch(pipe.read.get(), EPOLLIN);
    loop_->After(absl::Milliseconds(5), [&] {
      EXPECT_GT(seen, 0);
      loop_->Rewatch(pipe.read.get(), 0);
      seen = 0;
      loop_->After(absl::Milliseconds(5), [&] { loop_->Stop(); });
    });
  });
  loop_->Run();
  EXPECT_EQ(seen, 0);
  loop_->Unwatch(pipe.read.get());
  loop_->Rewatch(pipe.read.get(), EPOLLIN);  // is nothing
}

TEST_F(EventLoopTest, WakesUpForWorkFromAnotherThread) {
  std::thread other([&] {
    for (int i = 0; i < 1000; ++i) loop_->Post([] {});
    loop_->Stop();
  });
  loop_->Run();
  other.join();
}

TEST_F(EventLoopTest, KnowsItsOwnThread) {
  EXPECT_FALSE(loop_->OnLoopThread());
  bool on_loop = false;
  loop_->Post([&] {
    on_loop = loop_->OnLoopThread();
    loop_->Stop();
  });
  loop_->Run();
  EXPECT_TRUE(on_loop);
  EXPECT_FALSE(loop_->OnLoopThread());
}

TEST_F(EventLoopTest, RefusesADescriptorThatCannotBeWatched) {
  EXPECT_FALSE(loop_->Watch(-1, EPOLLIN, [](uint32_t) {}).ok());
}

}  // namespace
}  // namespace cellar
