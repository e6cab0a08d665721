#include "host/runtime/python_install.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "host/base/status.h"

namespace cellar::host {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxConfigLines = 1000;

bool Exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// The digits of a version and nothing after them: "3.11.2.final.0" and "3.11.2rc1" -> "3.11.2".
std::string LeadingVersion(absl::string_view text) {
  std::vector<std::string> numbers;
  for (absl::string_view part : absl::StrSplit(text, '.')) {
    size_t digits = 0;
    while (digits < part.size() && absl::ascii_isdigit(part[digits])) ++digits;
    if (digits == 0) break;
    numbers.emplace_back(part.substr(0, digits));
    if (digits < part.size() || numbers.size() == 3) break;
  }
  return numbers.size() < 2 ? "" : absl::StrJoin(numbers, ".");
}

// "python3.11" -> "3.11". Nothing for other builds ("python3.13t", "python3.11d") and other
// programs.
std::string VersionInName(const fs::path& executable) {
  const std::string name = executable.filename();
  absl::string_view rest = name;
  if (!absl::ConsumePrefix(&rest, "python")) return "";
  std::string version = LeadingVersion(rest);
  return rest == version ? version : "";
}

bool IsPythonName(const fs::path& executable) {
  const std::string name = executable.filename();
  return name == "python" || name == "python3" || !VersionInName(executable).empty();
}

// A script is a shim that leads to who knows where.
bool IsNativeProgram(const fs::path& path) {
  char magic[4] = {};
  std::ifstream(path, std::ios::binary).read(magic, sizeof(magic));
  return absl::string_view(magic, sizeof(magic)) == "\177ELF";
}

// Like CPython: the first directory at or above `start` with the standard library in it.
std::string FindPrefix(fs::path start, const std::string& minor) {
  if (minor.empty()) return "";
  while (StandardLibrary(start, minor).empty()) {
    if (start == start.root_path()) return "";
    start = start.parent_path();
  }
  return start;
}

// The version of the only standard library under `prefix`, if there is just one.
std::string OnlyVersionUnder(const fs::path& prefix) {
  std::string found;
  std::error_code error;
  for (fs::directory_iterator it(prefix / "lib", error), end; it != end; it.increment(error)) {
    const std::string version = VersionInName(it->path());
    if (version.empty() || StandardLibrary(prefix, version).empty()) continue;
    if (!found.empty()) return "";
    found = version;
  }
  return found;
}

using Config = std::map<std::string, std::string>;

// Beside the executable or one directory up, the only places where CPython looks.
std::optional<fs::path> FindVenvConfig(const fs::path& executable) {
  for (const fs::path& directory :
       {executable.parent_path(), executable.parent_path().parent_path()}) {
    if (Exists(directory / "pyvenv.cfg")) return directory / "pyvenv.cfg";
  }
  return std::nullopt;
}

Config ReadVenvConfig(const fs::path& path) {
  Config config;
  std::ifstream file(path);
  std::string line;
  for (int i = 0; i < kMaxConfigLines && std::getline(file, line); ++i) {
    const std::pair<std::string, std::string> entry = absl::StrSplit(line, absl::MaxSplits('=', 1));
    config[absl::AsciiStrToLower(absl::StripAsciiWhitespace(entry.first))] =
        std::string(absl::StripAsciiWhitespace(entry.second));
  }
  return config;
}

// `home` is the base's bin directory, and what lies there may itself be a link into an
// installation.
std::string BasePrefix(const fs::path& home, const std::string& minor) {
  for (const std::string& name :
       {"python" + minor, std::string("python3"), std::string("python")}) {
    std::error_code error;
    const fs::path resolved = fs::canonical(home / name, error);
    if (error) continue;
    if (std::string prefix = FindPrefix(resolved.parent_path(), minor); !prefix.empty()) {
      return prefix;
    }
  }
  return "";
}

// virtualenv and uv write version_info, the standard library's venv writes version.
std::string VersionInConfig(const Config& config) {
  for (const char* key : {"version_info", "version"}) {
    const auto found = config.find(key);
    if (found != config.end()) return LeadingVersion(found->second);
  }
  return "";
}

absl::StatusOr<PythonInstall> InspectVenv(PythonInstall install, const fs::path& config_path,
                                          const fs::path& resolved) {
  const Config config = ReadVenvConfig(config_path);
  install.is_venv = true;
  install.prefix = config_path.parent_path();
  install.version = VersionInConfig(config);
  const auto home = config.find("home");
  if (home == config.end() || home->second.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(config_path.string(), " names no home"));
  }
  const std::string minor = MinorVersion(install.version);
  const std::string now = MinorVersion(VersionInName(resolved));
  if (!minor.empty() && !now.empty() && now != minor) {
    return absl::FailedPreconditionError(absl::StrCat(config_path.string(), " was made for Python ",
                                                      minor, ", but ", install.executable,
                                                      " is Python ", now, " now"));
  }
  if (minor.empty() || !IsPythonName(resolved)) {
    install.version.clear();
    return install;
  }
  install.base_prefix = BasePrefix(home->second, minor);
  if (install.base_prefix.empty()) {
    return absl::FailedPreconditionError(absl::StrCat("its base is gone: there is no Python ",
                                                      minor, " installation at ", home->second,
                                                      ", the home in ", config_path.string()));
  }
  return install;
}

std::string ExistingUnderLib(const fs::path& prefix, const std::string& relative) {
  if (prefix.empty()) return "";
  for (const char* lib : {"lib", "lib64"}) {
    const fs::path path = prefix / lib / relative;
    if (Exists(path)) return path;
  }
  return "";
}

}  // namespace

absl::StatusOr<PythonInstall> InspectExecutable(const std::string& executable) {
  std::error_code error;
  const fs::path resolved = fs::canonical(executable, error);
  if (error) {
    std::error_code not_a_link;
    const fs::path target = fs::read_symlink(executable, not_a_link);
    return ErrnoStatus(error.value(),
                       not_a_link ? executable : absl::StrCat(executable, " -> ", target.string()));
  }
  if (access(executable.c_str(), X_OK) != 0) return ErrnoStatus(errno, executable);
  if (!fs::is_regular_file(resolved, error)) {
    return absl::InvalidArgumentError(absl::StrCat(executable, " is not a file"));
  }

  PythonInstall install{.executable = executable};
  if (!IsNativeProgram(resolved)) return install;
  if (std::optional<fs::path> config = FindVenvConfig(executable)) {
    return InspectVenv(std::move(install), *config, resolved);
  }
  if (!IsPythonName(resolved)) return install;
  install.version = VersionInName(resolved);
  if (install.version.empty()) {
    install.version = OnlyVersionUnder(resolved.parent_path().parent_path());
  }
  install.prefix = FindPrefix(resolved.parent_path(), MinorVersion(install.version));
  install.base_prefix = install.prefix;
  return install;
}

absl::StatusOr<std::string> ExecutableInEnvironment(const std::string& directory) {
  for (const char* name : {"python", "python3"}) {
    const fs::path executable = fs::path(directory) / "bin" / name;
    std::error_code ignored;
    // A dangling link counts: that the base is gone says more than that there is no python.
    if (fs::is_symlink(executable, ignored) || Exists(executable)) return executable.string();
  }
  return absl::NotFoundError(absl::StrCat("there is no bin/python in ", directory));
}

std::string MinorVersion(absl::string_view version) {
  const std::vector<std::string> numbers = absl::StrSplit(version, '.');
  return numbers.size() < 2 ? "" : absl::StrCat(numbers[0], ".", numbers[1]);
}

std::string StandardLibrary(const std::string& prefix, const std::string& minor) {
  return fs::path(ExistingUnderLib(prefix, "python" + minor + "/os.py")).parent_path();
}

std::string SharedLibrary(const std::string& prefix, const std::string& minor) {
  return ExistingUnderLib(prefix, "libpython" + minor + ".so.1.0");
}

std::string SitePackages(const std::string& prefix, const std::string& minor) {
  return ExistingUnderLib(prefix, "python" + minor + "/site-packages");
}

}  // namespace cellar::host
