// Checks that a test leaves its process as it found it: no child, no open descriptor.
#pragma once

#include <sys/wait.h>

#include <cerrno>
#include <filesystem>
#include <iterator>

#include "gtest/gtest.h"

namespace cellar {

inline auto CountOpenFds() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                       std::filesystem::directory_iterator());
}

class LeavesNothing : public ::testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
    EXPECT_EQ(errno, ECHILD);
    EXPECT_EQ(CountOpenFds(), fds_before_);
  }

 private:
  const std::ptrdiff_t fds_before_ = CountOpenFds();
};

}  // namespace cellar
