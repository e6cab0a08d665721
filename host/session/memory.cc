#include "host/session/memory.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "host/base/process.h"
#include "host/wire/process_names.h"

namespace cellar::host {
namespace {

std::multimap<pid_t, pid_t> AllChildren() {
  std::multimap<pid_t, pid_t> children;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    pid_t pid = 0;
    if (absl::SimpleAtoi(entry.path().filename().string(), &pid)) {
      children.emplace(ParentOf(pid), pid);
    }
  }
  return children;
}

struct Size {
  uint64_t resident = 0;
  uint64_t proportional = 0;  // each page divided by the number of processes that share it
};

Size SizeOf(pid_t pid) {
  Size size;
  std::ifstream file(absl::StrCat("/proc/", pid, "/smaps_rollup"));
  for (std::string line; std::getline(file, line);) {
    uint64_t kibibytes = 0;
    if (std::sscanf(line.c_str(), "Rss: %lu kB", &kibibytes) == 1) size.resident = kibibytes << 10;
    if (std::sscanf(line.c_str(), "Pss: %lu kB", &kibibytes) == 1) {
      size.proportional = kibibytes << 10;
      return size;
    }
  }
  return size;
}

std::string NameOf(pid_t pid) {
  std::string name;
  std::getline(std::ifstream(absl::StrCat("/proc/", pid, "/comm")), name);
  return name;
}

uint64_t SizeOfSession(pid_t worker, pid_t keeper, const std::multimap<pid_t, pid_t>& children) {
  uint64_t started = 0;
  uint64_t snapshots = 0;
  std::set<pid_t> seen;  // the table was not read in one moment: a pid may stand in it twice
  std::vector<pid_t> parents = {keeper};
  while (!parents.empty()) {
    const pid_t parent = parents.back();
    auto [child, end] = children.equal_range(parent);
    parents.pop_back();
    for (; child != end; ++child) {
      const pid_t pid = child->second;
      const std::string name = parent == keeper ? NameOf(pid) : "";
      if (name == wire::kKeeperName || !seen.insert(pid).second) continue;
      parents.push_back(pid);
      if (pid == worker) continue;
      (name == wire::kSnapshotName ? snapshots : started) += SizeOf(pid).proportional;
    }
  }
  // What the worker shares with snapshots is all its own; what they alone hold is not, and cannot
  // make it more than it has.
  const Size own = SizeOf(worker);
  return started + std::min(own.resident, own.proportional + snapshots);
}

}  // namespace

std::map<pid_t, uint64_t> SessionMemory(const std::vector<pid_t>& workers) {
  const std::multimap<pid_t, pid_t> children = AllChildren();
  std::map<pid_t, uint64_t> sizes;
  for (pid_t worker : workers) {
    const pid_t keeper = ParentOf(worker);
    sizes[worker] = keeper > 1 ? SizeOfSession(worker, keeper, children) : 0;
  }
  return sizes;
}

}  // namespace cellar::host
