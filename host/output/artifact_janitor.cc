#include "host/output/artifact_janitor.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"

namespace cellar::host {
namespace {

namespace fs = std::filesystem;

constexpr absl::Duration kFirst = absl::Seconds(1);
constexpr absl::Duration kAgain = absl::Hours(1);

// The pid in the name of a host's directory, or 0.
pid_t HostOf(const fs::path& directory) {
  const std::string name = directory.filename().string();
  const std::string_view prefix = kHostArtifactsPrefix;
  pid_t pid = 0;
  if (!name.starts_with(prefix) || !absl::SimpleAtoi(name.substr(prefix.size()), &pid)) return 0;
  return pid;
}

bool IsAlive(pid_t pid) { return kill(pid, 0) == 0 || errno == EPERM; }

// The newest first; `directory` is among them when it exists.
std::vector<fs::path> DirectoriesBeside(const fs::path& directory) {
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory.parent_path(), error)) {
    if (HostOf(entry.path()) == 0 || !entry.is_directory(error) || entry.is_symlink(error))
      continue;
    found.emplace_back(entry.last_write_time(error), entry.path());
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<fs::path> directories;
  for (auto& [time, path] : found) directories.push_back(std::move(path));
  return directories;
}

// Within `directory`, and in the directories of other hosts beside it, from the newest to the
// oldest. Directories of hosts that left nothing are removed. What cannot be read is left alone.
void CleanUp(const std::string& directory, const ArtifactLimits& limits) {
  const bool is_of_host = HostOf(directory) != 0;
  ArtifactLimits left = limits;
  for (const fs::path& each :
       is_of_host ? DirectoriesBeside(directory) : std::vector<fs::path>{directory}) {
    const absl::StatusOr<uint64_t> kept_bytes = ArtifactStore(each.string()).CleanUp(left);
    if (!kept_bytes.ok()) continue;
    left.max_total_bytes -= std::min(left.max_total_bytes, *kept_bytes);
    // Fails when there is something in it. A host that lives will want its directory.
    if (is_of_host && !IsAlive(HostOf(each))) rmdir(each.c_str());
  }
}

}  // namespace

ArtifactJanitor::ArtifactJanitor(EventLoop& loop, std::string directory, ArtifactLimits limits)
    : loop_(loop), directory_(std::move(directory)), limits_(limits) {
  Schedule(kFirst);
}

ArtifactJanitor::~ArtifactJanitor() {
  loop_.Cancel(timer_);
  thread_.reset();
  if (access(directory_.c_str(), F_OK) == 0) CleanUp(directory_, limits_);
}

void ArtifactJanitor::Schedule(absl::Duration delay) {
  timer_ = loop_.After(delay, [this] {
    thread_->Run([directory = directory_, limits = limits_] { CleanUp(directory, limits); });
    Schedule(kAgain);
  });
}

}  // namespace cellar::host
