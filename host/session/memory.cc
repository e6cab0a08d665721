#include "host/session/memory.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "host/base/process.h"

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

uint64_t ProportionalSize(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/smaps_rollup"));
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with("Pss:")) continue;
    std::istringstream fields(line.substr(4));
    uint64_t kibibytes = 0;
    fields >> kibibytes;
    return kibibytes << 10;
  }
  return 0;
}

uint64_t SizeBelow(pid_t parent, const std::multimap<pid_t, pid_t>& children) {
  uint64_t size = 0;
  std::set<pid_t> counted;  // the table was not read in one moment: a pid may stand in it twice
  std::vector<pid_t> parents = {parent};
  while (!parents.empty()) {
    auto [child, end] = children.equal_range(parents.back());
    parents.pop_back();
    for (; child != end; ++child) {
      if (!counted.insert(child->second).second) continue;
      size += ProportionalSize(child->second);
      parents.push_back(child->second);
    }
  }
  return size;
}

}  // namespace

std::map<pid_t, uint64_t> SessionMemory(const std::vector<pid_t>& workers) {
  const std::multimap<pid_t, pid_t> children = AllChildren();
  std::map<pid_t, uint64_t> sizes;
  for (pid_t worker : workers) {
    const pid_t keeper = ParentOf(worker);
    sizes[worker] = keeper > 1 ? SizeBelow(keeper, children) : 0;
  }
  return sizes;
}

}  // namespace cellar::host
