// Fixtures for tests that write artifacts: progress to wait for, a disk that stands still, a disk
// that is full.
#pragma once

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <system_error>

namespace cellar::host {

// Counts calls of on_progress and waits for what they announce.
class Progress {
 public:
  std::function<void()> Callback() {
    return [this] {
      std::lock_guard<std::mutex> lock(mutex_);
      ++calls_;
      changed_.notify_all();
    };
  }

  int calls() {
    std::lock_guard<std::mutex> lock(mutex_);
    return calls_;
  }

  // Looks at `condition` now and after each call; gives up after 30 s.
  bool WaitUntil(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    int seen = -1;
    while (true) {
      {
        std::unique_lock<std::mutex> lock(mutex_);
        if (!changed_.wait_until(lock, deadline, [&] { return calls_ != seen; })) return false;
        seen = calls_;
      }
      if (condition()) return true;
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int calls_ = 0;
};

// A disk that does not answer: while there is one, every write to a file in this program waits.
class StalledDisk {
 public:
  StalledDisk() {
    is_stalled = true;
    is_waited_for = false;
  }
  ~StalledDisk() { Release(); }

  void Release() {
    is_stalled = false;
    is_stalled.notify_all();
  }

  // Returns when a thread waits in a write.
  void WaitForWriter() const { is_waited_for.wait(false); }
  bool has_writer() const { return is_waited_for; }

  static void BeforeWrite(int fd) {
    struct stat info;
    if (!is_stalled || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return;
    is_waited_for = true;
    is_waited_for.notify_all();
    is_stalled.wait(true);
  }

 private:
  static inline std::atomic<bool> is_stalled = false;
  static inline std::atomic<bool> is_waited_for = false;
};

// A file system of its own size on `directory`, seen by this thread and those it starts.
class SmallDisk {
 public:
  SmallDisk(const std::string& directory, size_t bytes) : directory_(directory) {
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    const std::string options = "mode=0700,size=" + std::to_string(bytes);
    is_mounted_ = !error && unshare(CLONE_NEWNS) == 0 &&
                  mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                  mount("cellar-test", directory.c_str(), "tmpfs", 0, options.c_str()) == 0;
  }
  ~SmallDisk() {
    if (is_mounted_) umount2(directory_.c_str(), MNT_DETACH);
  }

  // False if this process may not mount.
  bool is_mounted() const { return is_mounted_; }

  bool MakeReadOnly() const {
    return mount("none", directory_.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) == 0;
  }

 private:
  const std::string directory_;
  bool is_mounted_ = false;
};

}  // namespace cellar::host

// Takes the place of libc's in the test program.
extern "C" ssize_t write(int fd, const void* data, size_t size) {
  cellar::host::StalledDisk::BeforeWrite(fd);
  return syscall(SYS_write, fd, data, size);
}
