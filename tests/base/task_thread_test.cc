#include "host/base/task_thread.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <memory>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"

namespace cellar {
namespace {

TEST(TaskThreadTest, RunsTasksInOrderOnAnotherThread) {
  TaskThread thread;
  std::vector<int> order;
  std::thread::id where;
  absl::Notification done;
  for (int i = 0; i < 3; ++i) thread.Run([&order, i] { order.push_back(i); });
  thread.Run([&] {
    where = std::this_thread::get_id();
    done.Notify();
  });
  done.WaitForNotification();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
  EXPECT_NE(where, std::this_thread::get_id());
}

TEST(TaskThreadTest, WithoutRoomForAThreadTheCallerRunsTheTask) {
  pthread_attr_t before;
  pthread_attr_t huge;
  ASSERT_EQ(pthread_getattr_default_np(&before), 0);
  ASSERT_EQ(pthread_getattr_default_np(&huge), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&huge, size_t{1} << 46), 0);
  ASSERT_EQ(pthread_setattr_default_np(&huge), 0);
  TaskThread thread;
  std::thread::id where;
  thread.Run([&] { where = std::this_thread::get_id(); });
  pthread_setattr_default_np(&before);
  EXPECT_EQ(where, std::this_thread::get_id());

  absl::Notification done;
  thread.Run([&] {
    where = std::this_thread::get_id();
    done.Notify();
  });
  done.WaitForNotification();
  EXPECT_NE(where, std::this_thread::get_id());
}

TEST(TaskThreadTest, ItsEndWaitsForTheTaskUnderWay) {
  absl::Notification started;
  absl::Notification released;
  absl::Notification ended;
  bool finished = false;
  auto thread = std::make_unique<TaskThread>();
  thread->Run([&] {
    started.Notify();
    released.WaitForNotification();
    finished = true;
  });
  started.WaitForNotification();
  std::thread ending([&] {
    thread.reset();
    ended.Notify();
  });
  EXPECT_FALSE(ended.WaitForNotificationWithTimeout(absl::Milliseconds(20)));
  released.Notify();
  ending.join();
  EXPECT_TRUE(finished);
}

}  // namespace
}  // namespace cellar
