#include "host/base/fds.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "gtest/gtest.h"

namespace cellar {
namespace {

TEST(FdsTest, DescriptorsAreHighAndCloseOnExec) {
  Pipe pipe = *MakePipe();
  for (int fd : {pipe.read.get(), pipe.write.get()}) {
    EXPECT_GT(fd, 255);
    EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
  }
}

TEST(FdsTest, MovingClosesTheOldNumber) {
  UniqueFd low(dup(0));
  int number = low.get();
  UniqueFd high = *MoveHigh(std::move(low));
  EXPECT_EQ(fcntl(number, F_GETFD), -1);
  EXPECT_EQ(errno, EBADF);
}

TEST(FdsTest, SealedMemoryCannotBeTruncatedUnderAReader) {
  UniqueFd memory = *MakeSealedMemory("test", 4096);
  EXPECT_NE(ftruncate(memory.get(), 0), 0);
  EXPECT_NE(ftruncate(memory.get(), 8192), 0);
  EXPECT_NE(fcntl(memory.get(), F_ADD_SEALS, F_SEAL_WRITE), 0);
}

TEST(UniqueFdTest, ClosesWhatItOwnsExactlyOnce) {
  int number;
  {
    UniqueFd owner(dup(0));
    number = owner.get();
    UniqueFd other = std::move(owner);
    EXPECT_FALSE(owner);
    EXPECT_EQ(other.get(), number);
  }
  EXPECT_EQ(fcntl(number, F_GETFD), -1);
}

}  // namespace
}  // namespace cellar
