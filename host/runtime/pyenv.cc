#include "host/runtime/pyenv.h"

#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "absl/strings/str_split.h"

namespace cellar::host {
namespace {

namespace fs = std::filesystem;

// The first word of a version file; the others are fallbacks for commands that the first lacks.
std::string FirstVersionIn(const fs::path& file) {
  std::ifstream stream(file);
  std::string word;
  stream >> word;
  return word;
}

// PYENV_VERSION, else the nearest .python-version at or above `cwd`, else <root>/version.
std::string SelectedVersion(const fs::path& root, const Environment& env, fs::path cwd) {
  if (std::string versions = EnvironmentValue(env, "PYENV_VERSION"); !versions.empty()) {
    return std::vector<std::string>(absl::StrSplit(versions, absl::MaxSplits(':', 1))).front();
  }
  for (; cwd.has_relative_path(); cwd = cwd.parent_path()) {
    std::error_code ignored;
    if (fs::exists(cwd / ".python-version", ignored)) {
      return FirstVersionIn(cwd / ".python-version");
    }
  }
  return FirstVersionIn(root / "version");
}

}  // namespace

std::string ResolvePyenvShim(const std::string& path, const Environment& env,
                             const std::string& cwd) {
  const fs::path shims = fs::path(path).parent_path();
  const fs::path root = shims.parent_path();
  std::error_code ignored;
  if (shims.filename() != "shims" || !fs::is_directory(root / "versions", ignored)) return "";
  const std::string version = SelectedVersion(root, env, cwd);
  if (version.empty() || version.find('/') != std::string::npos || version.front() == '.')
    return "";
  const fs::path executable = root / "versions" / version / "bin" / fs::path(path).filename();
  return fs::exists(executable, ignored) ? executable.string() : "";
}

}  // namespace cellar::host
