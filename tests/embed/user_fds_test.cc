#include "embed/user_fds.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/base/unique_fd.h"

namespace cellar::embed {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Everything that is open before a test opens more is not a cell's.
class UserFdsTest : public testing::Test {
 protected:
  UserFdsTest() {
    for (const UserFd& fd : ListUserFds({}, 0, 0)) own_.insert(fd.number);
  }
  std::vector<UserFd> List() const { return ListUserFds(own_, 0, 0); }

 private:
  std::set<int> own_;
};

TEST_F(UserFdsTest, ADeviceOfAGpuIsNamedAsSuch) {
  for (const char* path : {"/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/kfd",
                           "/dev/dri/card0", "/dev/dri/renderD128"}) {
    EXPECT_EQ(DescribeDevice(path), std::string("the GPU context of ") + path);
  }
  for (const char* path : {"/dev/pts/3", "/dev/fuse", "/dev/driver", "/tmp/dev/nvidia0"}) {
    EXPECT_EQ(DescribeDevice(path), std::string("the device ") + path);
  }
}

TEST_F(UserFdsTest, ATerminalIsNamedAndDeadInTheCopy) {
  UniqueFd terminal(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_TRUE(terminal);
  std::vector<UserFd> fds = List();
  ASSERT_EQ(fds.size(), 1u);
  EXPECT_EQ(fds[0].kind, UserFd::Kind::kDead);
  char path[64] = {};
  ASSERT_GT(
      readlink(("/proc/self/fd/" + std::to_string(terminal.get())).c_str(), path, sizeof(path) - 1),
      0);
  EXPECT_THAT(DescribeUserFds(fds), ElementsAre(std::string("the device ") + path));

  EXPECT_THAT(ReplaceUserFds(fds), IsEmpty());
  EXPECT_FALSE(isatty(terminal.get()));
  char byte;
  EXPECT_EQ(read(terminal.get(), &byte, 1), 0);
  EXPECT_NE(fcntl(terminal.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(UserFdsTest, ATemporaryFileWithoutANameIsTheSameInTheCopy) {
  UniqueFd file(open("/tmp", O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600));
  ASSERT_TRUE(file);
  ASSERT_EQ(write(file.get(), "ab", 2), 2);
  std::vector<UserFd> fds = List();
  EXPECT_THAT(ReplaceUserFds(fds), IsEmpty());
  EXPECT_EQ(lseek(file.get(), 0, SEEK_CUR), 2);
  char byte;
  EXPECT_EQ(pread(file.get(), &byte, 1, 1), 1);
  EXPECT_EQ(byte, 'b');
}

TEST_F(UserFdsTest, AFileThatCannotBeOpenedAgainIsNamed) {
  const pid_t child = fork();
  if (child == 0) _exit(pause());
  const std::string path = "/proc/" + std::to_string(child) + "/maps";
  UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(file);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  std::vector<UserFd> fds = List();
  EXPECT_THAT(ReplaceUserFds(fds), ElementsAre("the open file " + path));
  EXPECT_THAT(ReplaceUserFds(fds), IsEmpty()) << "it is named once";
}

TEST_F(UserFdsTest, NobodyMissesADeviceThatIsTheSameForAll) {
  UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  UniqueFd random(open("/dev/urandom", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(null && random);
  EXPECT_THAT(List(), IsEmpty());
}

}  // namespace
}  // namespace cellar::embed
