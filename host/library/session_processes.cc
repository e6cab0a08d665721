#include "cellar/session_processes.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace cellar {
namespace {

namespace fs = std::filesystem;

constexpr absl::Duration kPollInterval = absl::Milliseconds(2);

fs::path ProcessDirectory(pid_t pid) { return fs::path("/proc") / std::to_string(pid); }

// A process that ends meanwhile has none. The kernel lists children by the thread that made them.
std::vector<pid_t> ChildrenOf(pid_t pid) {
  std::vector<pid_t> children;
  std::error_code error;
  for (const auto& thread : fs::directory_iterator(ProcessDirectory(pid) / "task", error)) {
    std::ifstream list(thread.path() / "children");
    std::copy(std::istream_iterator<pid_t>(list), {}, std::back_inserter(children));
  }
  return children;
}

void AddAllBelow(pid_t pid, std::set<pid_t>& found) {
  for (pid_t child : ChildrenOf(pid)) {
    if (found.insert(child).second) AddAllBelow(child, found);
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
  for (pid_t child : ChildrenOf(getpid())) {
    if (IsTemplate(child)) AddAllBelow(child, found);
  }
  return found;
}

std::string Describe(pid_t pid) {
  std::string name;
  std::getline(std::ifstream(ProcessDirectory(pid) / "comm"), name);
  return absl::StrCat(pid, " ", name);
}

}  // namespace

SessionProcesses::SessionProcesses() : before_(BelowTemplates()) {}

std::vector<std::string> SessionProcesses::LeftAfter(absl::Duration limit) const {
  const absl::Time deadline = absl::Now() + limit;
  while (true) {
    std::vector<std::string> left;
    for (pid_t pid : BelowTemplates()) {
      if (!before_.contains(pid)) left.push_back(Describe(pid));
    }
    if (left.empty() || absl::Now() >= deadline) return left;
    absl::SleepFor(kPollInterval);
  }
}

}  // namespace cellar
