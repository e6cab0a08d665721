// What KillDescendants makes of processes that are hard to end. Each case runs it in a process of
// its own, which has nothing else below it.
#include "embed/descendants.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <thread>

#include "gtest/gtest.h"
#include "host/base/fds.h"
#include "host/base/process.h"

namespace cellar::embed {
namespace {

constexpr int kLimitMilliseconds = 10'000;

// What lives holds the writing end.
bool Ends(const UniqueFd& read) {
  pollfd end = {read.get(), POLLIN, 0};
  return poll(&end, 1, kLimitMilliseconds) == 1;
}

pid_t Fork(const std::function<void()>& body) {
  pid_t pid = fork();
  if (pid != 0) return pid;
  body();
  _exit(0);
}

void SleepForEver() {
  while (true) pause();
}

// Runs `body` as a subreaper, and then KillDescendants. False when that does not come back.
bool KillsWhatItStarts(const std::function<void()>& body) {
  pid_t keeper = Fork([&] {
    BecomeSubreaper();
    body();
    KillDescendants();
  });
  UniqueFd pidfd = *OpenPidfd(keeper);
  const bool ended = Ends(pidfd);
  if (!ended) kill(keeper, SIGKILL);
  waitpid(keeper, nullptr, 0);
  return ended;
}

// Waits in the process that calls it until `pid` shows as dead.
void AwaitZombie(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  while (true) {
    char text[256] = {};
    UniqueFd stat(open(path.c_str(), O_RDONLY));
    if (read(stat.get(), text, sizeof(text) - 1) <= 0) return;
    if (std::string_view(text).find(") Z ") != std::string_view::npos) return;
    usleep(1000);
  }
}

TEST(DescendantsTest, AProcessWhoseMainThreadHasEndedIsKilled) {
  Pipe life = *MakePipe();
  EXPECT_TRUE(KillsWhatItStarts([&] {
    pid_t child = Fork([] {
      std::thread(SleepForEver).detach();
      syscall(SYS_exit, 0);  // this thread alone
    });
    life.write.reset();
    AwaitZombie(child);
  }));
  life.write.reset();
  EXPECT_TRUE(Ends(life.read));
}

TEST(DescendantsTest, AProcessThatMayNotBeSignalledIsLeftAndTheOthersAreKilled) {
  if (geteuid() != 0) GTEST_SKIP() << "a process of another user needs root";
  constexpr uid_t kNobody = 65534;
  Pipe life = *MakePipe();
  Pipe permission = *MakePipe();  // the foreign process lives until it is taken back
  ASSERT_TRUE(SetNonBlocking(permission.read.get(), false).ok());
  EXPECT_TRUE(KillsWhatItStarts([&] {
    Fork([&] {
      life.write.reset();
      permission.write.reset();
      char byte;
      (void)!read(permission.read.get(), &byte, 1);
    });
    permission.write.reset();
    for (int i = 0; i < 3; ++i) {
      Pipe changed = *MakePipe();
      Fork([&] {
        if (setresuid(kNobody, kNobody, kNobody) != 0) return;
        changed.write.reset();
        SleepForEver();
      });
      changed.write.reset();
      EXPECT_TRUE(Ends(changed.read));
    }
    life.write.reset();
    if (setresuid(kNobody, kNobody, kNobody) != 0) SleepForEver();
  }));
  life.write.reset();
  EXPECT_TRUE(Ends(life.read));
}

}  // namespace
}  // namespace cellar::embed
