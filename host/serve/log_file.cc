#include "host/serve/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "host/base/fds.h"
#include "host/output/printable.h"

namespace cellar::host {
namespace {

constexpr const char* kName = "daemon.log";
constexpr const char* kOldName = "daemon.log.1";
constexpr off_t kMaxBytes = 1 << 20;

}  // namespace

absl::Status LogFile::Open() {
  UniqueFd file(openat(directory_.fd.get(), kName,
                       O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file || dup2(file.get(), STDERR_FILENO) < 0) {
    return ErrnoStatus(errno, "opening " + directory_.path + "/" + kName);
  }
  return absl::OkStatus();
}

void LogFile::Write(std::string_view line) {
  struct stat info;
  if (fstat(STDERR_FILENO, &info) == 0 && info.st_size > kMaxBytes) {
    renameat(directory_.fd.get(), kName, directory_.fd.get(), kOldName);
    (void)Open();
  }
  WriteAll(STDERR_FILENO,
           absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ ", absl::Now(), absl::UTCTimeZone()) +
               Printable(line) + "\n");
}

}  // namespace cellar::host
