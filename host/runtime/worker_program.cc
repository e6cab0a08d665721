#include "host/runtime/worker_program.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "host/base/status.h"

namespace cellar::host {
namespace {

namespace fs = std::filesystem;

absl::Status CheckExecutableFile(const std::string& path) {
  if (access(path.c_str(), X_OK) != 0) return ErrnoStatus(errno, path);
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": not a file"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> UseGivenPath(const std::string& given, const char* origin) {
  std::error_code error;
  std::string path = fs::absolute(given, error).lexically_normal();
  if (absl::Status status = CheckExecutableFile(path); !status.ok()) {
    return absl::Status(status.code(),
                        absl::StrCat("worker program given by ", origin, ": ", status.message()));
  }
  return path;
}

}  // namespace

WorkerPython BuiltInPython() {
  return {.minor = CELLAR_PYTHON_MINOR, .executable = CELLAR_PYTHON_EXECUTABLE};
}

std::string ExecutableDirectory() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

absl::StatusOr<std::string> FindWorkerProgram(const WorkerProgramQuery& query) {
  if (!query.explicit_path.empty()) return UseGivenPath(query.explicit_path, "the caller");
  if (std::string given = EnvironmentValue(query.env, "CELLAR_WORKER"); !given.empty()) {
    return UseGivenPath(given, "CELLAR_WORKER");
  }

  const std::string name = absl::StrCat("cellar-worker-", query.python_minor);
  const fs::path beside = query.executable_directory;
  std::vector<std::string> tried;
  if (!beside.empty()) {
    tried.push_back((beside / "../libexec/cellar" / name).lexically_normal());
    tried.push_back(beside / name);  // the build tree has no libexec
  }
  tried.push_back(fs::path(CELLAR_LIBEXECDIR) / name);
  for (const std::string& path : tried) {
    if (CheckExecutableFile(path).ok()) return path;
  }
  return absl::UnavailableError(absl::StrCat("no worker program ", name, "; tried ",
                                             absl::StrJoin(tried, ", "),
                                             "; CELLAR_WORKER can name one"));
}

}  // namespace cellar::host
