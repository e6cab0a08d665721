#include "host/runtime/interpreter.h"

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "host/base/clock.h"
#include "host/base/status.h"
#include "host/runtime/probe.h"
#include "host/runtime/pyenv.h"
#include "host/runtime/python_install.h"

namespace cellar::host {
namespace {

namespace fs = std::filesystem;

// Rules that have an end of their own: the first is an error where it fails, the last is said.
constexpr char kSetting[] = "setting";
constexpr char kBuiltIn[] = "built-in";

struct Candidate {
  std::string origin;
  std::string path;     // an executable, or an environment's directory
  std::string missing;  // why there is nothing to look at; or empty
};

bool IsDirectory(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

std::string Absolute(const std::string& path, const InterpreterQuery& query) {
  return (fs::path(query.cwd) / WithHome(path, query.env)).lexically_normal();
}

void AddEnvironments(const InterpreterQuery& query, std::vector<Candidate>& candidates) {
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const std::string value = EnvironmentValue(query.env, variable);
    candidates.push_back(value.empty() ? Candidate{variable, "", "not set"}
                                       : Candidate{variable, Absolute(value, query), ""});
  }
  for (const char* place : {".venv", "venv", "~/.cellar/python-env"}) {
    const std::string path = Absolute(place, query);
    candidates.push_back({place, path, IsDirectory(path) ? "" : "there is no such directory"});
  }
}

// The programs of that name on PATH. Its relative entries are left out: the choice must not depend
// on the directory by accident.
std::vector<fs::path> OnPath(const std::string& name, const InterpreterQuery& query) {
  std::vector<fs::path> found;
  const std::string path = EnvironmentValue(query.env, "PATH");
  for (absl::string_view directory : absl::StrSplit(path, ':')) {
    const fs::path executable = fs::path(std::string(directory)) / name;
    if (executable.is_absolute() && access(executable.c_str(), X_OK) == 0 &&
        !IsDirectory(executable)) {
      found.push_back(executable);
    }
  }
  return found;
}

void AddFromPath(const InterpreterQuery& query, std::vector<Candidate>& candidates) {
  std::set<fs::path> seen;  // /bin and /usr/bin are often one directory
  for (const char* name : {"python3", "python"}) {
    for (const fs::path& executable : OnPath(name, query)) {
      std::error_code error;
      const fs::path resolved = fs::canonical(executable, error);
      if (error) continue;
      // A venv's python is a link to its base's, and yet another Python.
      if (seen.insert(fs::canonical(executable.parent_path(), error) / resolved.filename())
              .second) {
        candidates.push_back({"PATH", executable, ""});
      }
    }
  }
}

// A bare name that is nothing here is that of a program, as in a shell.
std::string PathOfSetting(const InterpreterQuery& query) {
  const std::string here = Absolute(query.setting, query);
  if (absl::StrContains(query.setting, '/') || access(here.c_str(), F_OK) == 0) return here;
  const std::vector<fs::path> programs = OnPath(query.setting, query);
  return programs.empty() ? here : programs.front().native();
}

// Judges candidates one by one; holds what all of them share.
class Chooser {
 public:
  explicit Chooser(const InterpreterQuery& query)
      : query_(query),
        minor_(query.worker_python.minor),
        deadline_(MonotonicNow() + query.probe_limit) {
    absl::StatusOr<PythonInstall> own = InspectExecutable(query.worker_python.executable);
    if (own.ok()) own_prefix_ = own->base_prefix;
  }

  absl::StatusOr<Interpreter> Adopt(const Candidate& candidate) const {
    std::string executable = candidate.path;
    if (IsDirectory(candidate.path)) {
      CELLAR_ASSIGN_OR_RETURN(executable, ExecutableInEnvironment(candidate.path));
    }
    CELLAR_ASSIGN_OR_RETURN(PythonInstall install, Examine(executable));
    CELLAR_RETURN_IF_ERROR(CheckFit(install));
    Interpreter interpreter = Configure(install);
    interpreter.origin = candidate.origin;
    return interpreter;
  }

 private:
  absl::StatusOr<PythonInstall> Examine(std::string executable) const;
  absl::Status CheckFit(const PythonInstall& install) const;
  Interpreter Configure(const PythonInstall& install) const;

  const InterpreterQuery& query_;
  const std::string minor_;
  const absl::Time deadline_;
  std::string own_prefix_;  // of the Python the worker is linked with
};

absl::StatusOr<PythonInstall> Chooser::Examine(std::string executable) const {
  if (std::string real = ResolvePyenvShim(executable, query_.env, query_.cwd); !real.empty()) {
    executable = real;
  }
  CELLAR_ASSIGN_OR_RETURN(PythonInstall install, InspectExecutable(executable));
  const bool is_ours = MinorVersion(install.version) == minor_;
  const bool is_clear = !install.version.empty() && !(is_ours && install.prefix.empty());
  if (is_clear) return install;

  CELLAR_ASSIGN_OR_RETURN(ProbeAnswer answer, ProbePython({.executable = executable,
                                                           .env = query_.probe_env,
                                                           .cwd = query_.cwd,
                                                           .deadline = deadline_,
                                                           .cancel = query_.probe_cancel}));
  if (answer.implementation != "cpython") {
    return absl::FailedPreconditionError(absl::StrCat(executable, " is ", answer.implementation));
  }
  // Without site, a venv's Python gives its base as sys.prefix: where a shim led is looked at
  // again.
  CELLAR_ASSIGN_OR_RETURN(PythonInstall found, InspectExecutable(answer.executable));
  found.version = answer.version;
  found.base_prefix = answer.base_prefix;
  if (!found.is_venv) found.prefix = answer.base_prefix;
  return found;
}

absl::Status Chooser::CheckFit(const PythonInstall& install) const {
  if (MinorVersion(install.version) != minor_) {
    return absl::FailedPreconditionError(absl::StrCat(
        install.executable, " is Python ", install.version, ", this worker runs Python ", minor_));
  }
  if (StandardLibrary(install.base_prefix, minor_).empty()) {
    return absl::FailedPreconditionError(absl::StrCat("there is no standard library of Python ",
                                                      minor_, " in ", install.base_prefix));
  }
  if (install.is_venv && SitePackages(install.prefix, minor_).empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("there is no lib/python", minor_, "/site-packages in ", install.prefix));
  }
  return absl::OkStatus();
}

Interpreter Chooser::Configure(const PythonInstall& install) const {
  Interpreter interpreter{
      .executable = install.executable, .prefix = install.prefix, .version = install.version};
  if (install.is_venv) {
    interpreter.kind = InterpreterKind::kVenv;
  } else if (IsDirectory(fs::path(install.prefix) / "conda-meta")) {
    interpreter.kind = InterpreterKind::kConda;
  }
  if (install.base_prefix == own_prefix_) return interpreter;

  interpreter.libpython = SharedLibrary(install.base_prefix, minor_);
  if (interpreter.libpython.empty()) {
    interpreter.home = own_prefix_;
    if (!install.is_venv) interpreter.site_packages = SitePackages(install.prefix, minor_);
  } else if (!install.is_venv) {
    interpreter.home = install.prefix;
  }
  return interpreter;
}

std::vector<Candidate> Candidates(const InterpreterQuery& query) {
  std::vector<Candidate> candidates;
  if (query.setting.empty()) {
    candidates.push_back({kSetting, "", "not given"});
  } else {
    candidates.push_back({kSetting, PathOfSetting(query), ""});
  }
  AddEnvironments(query, candidates);
  AddFromPath(query, candidates);
  candidates.push_back({kBuiltIn, query.worker_python.executable, ""});
  return candidates;
}

absl::Status SettingError(const InterpreterQuery& query, const Candidate& asked,
                          const absl::Status& problem) {
  const std::string path = asked.path == query.setting ? "" : absl::StrCat(" (", asked.path, ")");
  // What may not be run is no Python for this user, as what is not there.
  const absl::StatusCode code =
      absl::IsPermissionDenied(problem) ? absl::StatusCode::kFailedPrecondition : problem.code();
  return absl::Status(code, absl::StrCat("interpreter \"", query.setting, "\"", path,
                                         ", which was asked for: ", problem.message()));
}

}  // namespace

absl::StatusOr<Interpreter> ChooseInterpreter(const InterpreterQuery& query) {
  const Chooser chooser(query);
  const WorkerPython& own = query.worker_python;
  std::optional<Interpreter> chosen;
  std::vector<std::string> warnings;
  std::vector<ConsideredPython> considered;
  for (const Candidate& candidate : Candidates(query)) {
    ConsideredPython& thought = considered.emplace_back();
    thought = {candidate.origin, candidate.path, candidate.missing};
    if (!candidate.missing.empty()) continue;
    if (chosen) {
      thought.verdict = "not looked at, since another one comes first";
      continue;
    }
    absl::StatusOr<Interpreter> interpreter = chooser.Adopt(candidate);
    if (interpreter.ok()) {
      chosen = *std::move(interpreter);
      thought.verdict = "taken";
      if (candidate.origin != kBuiltIn) continue;
      warnings.push_back(absl::StrCat("no Python ", own.minor,
                                      " in an environment or on PATH; using ", own.executable,
                                      ", which the worker was built for"));
      continue;
    }
    if (candidate.origin == kSetting) return SettingError(query, candidate, interpreter.status());
    const std::string why(interpreter.status().message());
    thought.verdict = absl::StrCat("passed over: ", why);
    warnings.push_back(
        candidate.origin == kBuiltIn
            ? absl::StrCat(own.executable, ", which the worker was built for: ", why)
            : absl::StrCat("passed over ", candidate.path, " (", candidate.origin, "): ", why));
  }
  if (!chosen) {
    return absl::UnavailableError(
        absl::StrCat("no usable Python ", own.minor, ": ", absl::StrJoin(warnings, "; ")));
  }
  chosen->warnings = std::move(warnings);
  chosen->considered = std::move(considered);
  return *std::move(chosen);
}

}  // namespace cellar::host
