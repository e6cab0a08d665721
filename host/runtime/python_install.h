// What a Python on disk is, told from its files alone: names, links, pyvenv.cfg. Runs nothing
// (probe.h does) and does not judge whether it can be used (interpreter.h does).
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cellar::host {

struct PythonInstall {
  std::string executable;   // as given: a venv is known by where its link lies, not where it leads
  std::string prefix;       // like sys.prefix; empty when the files do not tell
  std::string base_prefix;  // like sys.base_prefix; empty when the files do not tell
  std::string version;      // "3.11.2" or "3.11"; empty when the files do not tell
  bool is_venv = false;
};

// An error when the executable is missing or cannot be run, or when the venv around it is damaged:
// its pyvenv.cfg lacks `home`, its base is gone, or its base has become another version.
absl::StatusOr<PythonInstall> InspectExecutable(const std::string& executable);

// <directory>/bin/python or, failing that, bin/python3.
absl::StatusOr<std::string> ExecutableInEnvironment(const std::string& directory);

// "3.11.2" -> "3.11"; empty when it is not a version.
std::string MinorVersion(absl::string_view version);

// <prefix>/lib/python3.11 (or lib64) if it holds a standard library, else empty.
std::string StandardLibrary(const std::string& prefix, const std::string& minor);

// <prefix>/lib/libpython3.11.so.1.0 (or lib64) if it is there, else empty.
std::string SharedLibrary(const std::string& prefix, const std::string& minor);

// <prefix>/lib/python3.11/site-packages if it is there, else empty.
std::string SitePackages(const std::string& prefix, const std::string& minor);

}  // namespace cellar::host
