#include "cellar/session_processes.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "host/base/clock.h"
#include "host/base/process.h"

namespace cellar {
namespace {

namespace fs = std::filesystem;

constexpr absl::Duration kPollInterval = absl::Milliseconds(2);

fs::path ProcessDirectory(pid_t pid) { return fs::path("/proc") / std::to_string(pid); }

// Every process with its children. From /proc/<pid>/stat: not every kernel lists the children of a
// process.
std::multimap<pid_t, pid_t> ReadChildren() {
  std::multimap<pid_t, pid_t> children;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    pid_t pid = 0;
    if (!absl::SimpleAtoi(entry.path().filename().string(), &pid)) continue;
    if (pid_t parent = ParentOf(pid); parent != 0) children.emplace(parent, pid);
  }
  return children;
}

void AddAllBelow(pid_t pid, const std::multimap<pid_t, pid_t>& children, std::set<pid_t>& found) {
  auto [child, end] = children.equal_range(pid);
  for (; child != end; ++child) {
    if (found.insert(child->second).second) AddAllBelow(child->second, children, found);
  }
}

bool IsTemplate(pid_t pid) {
  std::error_code error;
  return fs::read_symlink(ProcessDirectory(pid) / "exe", error)
      .filename()
      .string()
      .starts_with("cellar-worker-");
}

std::set<pid_t> BelowTemplates() {
  std::set<pid_t> found;
  const std::multimap<pid_t, pid_t> children = ReadChildren();
  auto [child, end] = children.equal_range(getpid());
  for (; child != end; ++child) {
    if (IsTemplate(child->second)) AddAllBelow(child->second, children, found);
  }
  return found;
}

std::string NameOf(pid_t pid) {
  std::string name;
  std::getline(std::ifstream(ProcessDirectory(pid) / "comm"), name);
  return name;
}

}  // namespace

SessionProcesses::SessionProcesses() : before_(BelowTemplates()) {}

std::vector<std::string> SessionProcesses::LeftAfter(absl::Duration limit) const {
  const absl::Time deadline = MonotonicNow() + limit;
  while (true) {
    std::vector<std::string> left;
    for (pid_t pid : BelowTemplates()) {
      // A spare keeper belongs to its template, not to a session.
      if (before_.contains(pid) || NameOf(pid) == "cellar-spare") continue;
      left.push_back(absl::StrCat(pid, " ", NameOf(pid)));
    }
    if (left.empty() || MonotonicNow() >= deadline) return left;
    absl::SleepFor(kPollInterval);
  }
}

}  // namespace cellar
