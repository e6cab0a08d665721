#include "host/session/launch.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/base/fds.h"
#include "host/base/startup_trace.h"
#include "host/base/status.h"
#include "host/output/artifact_janitor.h"
#include "host/runtime/worker_program.h"

namespace cellar::host {
namespace {

namespace fs = std::filesystem;

// Links are resolved, so that one directory is one session key whatever way led to it.
absl::StatusOr<std::string> ResolveDirectory(const std::string& given) {
  std::error_code error;
  const fs::path path = fs::canonical(given.empty() ? "." : given, error);
  if (given.empty() && error == std::errc::no_such_file_or_directory) {
    return absl::NotFoundError("the current directory has been deleted");
  }
  if (error) return ErrnoStatus(error.value(), "working directory " + given);
  if (!fs::is_directory(path, error)) {
    return absl::InvalidArgumentError(
        absl::StrCat("working directory ", path.string(), ": not a directory"));
  }
  return path.string();
}

SinkOptions OutputLimits(const Settings& settings) {
  SinkOptions output;
  output.budget_bytes = static_cast<size_t>(settings.output_budget_bytes);
  // A small budget has a tail as well: that is where errors stand.
  output.head_bytes = std::min(output.head_bytes, output.budget_bytes * 2 / 5);
  output.max_inline_bytes = static_cast<size_t>(settings.display_inline_bytes);
  return output;
}

// Variables in which the terminals and programs of one user differ, and which Python does not look
// at when it starts.
bool IsOfOneClient(std::string_view entry) {
  constexpr std::string_view kBeginnings[] = {"PI_", "TERM=", "XDG_"};
  return !entry.starts_with("PI_ARTIFACTS_DIR=") &&
         std::ranges::any_of(kBeginnings,
                             [&](std::string_view start) { return entry.starts_with(start); });
}

// Told to the worker instead of the template, so that sessions of such clients share one.
void MoveToSession(SessionOptions& session) {
  std::vector<std::string>& entries = session.runtime.environment;
  for (const std::string& entry : entries) {
    if (!IsOfOneClient(entry)) continue;
    const size_t equals = entry.find('=');
    session.environment.push_back({entry.substr(0, equals), entry.substr(equals + 1)});
  }
  std::erase_if(entries, IsOfOneClient);
}

// Of a launch that has its settings, interpreter and artifacts directory.
absl::StatusOr<TemplateOptions> RuntimeOf(const Launch& launch, const LaunchQuery& query) {
  const Interpreter& interpreter = launch.interpreter;
  TemplateOptions runtime = {.executable = interpreter.executable,
                             .home = interpreter.home,
                             .libpython = interpreter.libpython,
                             .site_packages = interpreter.site_packages,
                             .prefix = interpreter.prefix,
                             .preload = launch.settings.preload};
  CELLAR_ASSIGN_OR_RETURN(runtime.program,
                          FindWorkerProgram({.explicit_path = query.worker_program,
                                             .env = query.env,
                                             .executable_directory = ExecutableDirectory(),
                                             .python_minor = BuiltInPython().minor}));
  // The worker program has its libpython linked in; its sibling takes another's.
  if (!runtime.libpython.empty() && access((runtime.program + "-shared").c_str(), X_OK) == 0) {
    runtime.program += "-shared";
  }
  CELLAR_ASSIGN_OR_RETURN(
      runtime.environment,
      BuildWorkerEnvironment(query.env, launch.settings, interpreter, launch.artifacts_directory));
  return runtime;
}

}  // namespace

std::string StateDirectory(const Environment& env) {
  fs::path state = EnvironmentValue(env, "XDG_STATE_HOME");
  const fs::path home = EnvironmentValue(env, "HOME");
  // The XDG base directory specification has relative paths ignored.
  if (!state.is_absolute()) {
    state = home.is_absolute() ? home / ".local/state"
                               : fs::path(absl::StrCat("/tmp/cellar-", getuid()));
  }
  return state / "cellar";
}

std::string ArtifactsDirectory(const Environment& env) {
  if (std::string given = EnvironmentValue(env, "PI_ARTIFACTS_DIR"); !given.empty()) return given;
  return absl::StrCat(StateDirectory(env), "/", kHostArtifactsPrefix, getpid());
}

ArtifactLimits ArtifactLimitsFrom(const Settings& settings) {
  return {.max_age = settings.artifacts_max_age,
          .max_total_bytes = static_cast<uint64_t>(settings.artifacts_max_bytes)};
}

absl::StatusOr<Launch> PrepareLaunch(const LaunchQuery& query) {
  Launch launch;
  SessionOptions& session = launch.session;
  CELLAR_ASSIGN_OR_RETURN(session.cwd, ResolveDirectory(query.cwd));
  CELLAR_ASSIGN_OR_RETURN(launch.settings, LoadSettings(query.env, session.cwd, query.settings));
  TraceStartup("settings read");
  Settings& settings = launch.settings;
  if (!query.interpreter.empty()) settings.interpreter = query.interpreter;
  if (!query.preload.empty()) settings.preload = query.preload;

  CELLAR_ASSIGN_OR_RETURN(launch.interpreter,
                          ChooseInterpreter({.setting = settings.interpreter,
                                             .env = query.env,
                                             .probe_env = PassedEnvironment(query.env, settings),
                                             .cwd = session.cwd,
                                             .worker_python = BuiltInPython(),
                                             .probe_cancel = query.cancel}));
  TraceStartup("interpreter chosen: " + launch.interpreter.executable);
  launch.artifacts_directory = query.artifacts_directory;
  if (launch.artifacts_directory.empty()) {
    launch.artifacts_directory = ArtifactsDirectory(query.env);
  }
  CELLAR_ASSIGN_OR_RETURN(session.runtime, RuntimeOf(launch, query));
  MoveToSession(session);

  session.notices = launch.interpreter.warnings;
  session.interrupt_grace = settings.interrupt_grace;
  session.memory_cap = static_cast<uint64_t>(settings.memory_cap_bytes);
  session.open_files = OpenFileLimitBefore();
  session.output = OutputLimits(settings);
  session.snapshots = {.policy = settings.snapshots,
                       .kept = static_cast<size_t>(settings.snapshots_kept),
                       .memory_share = settings.snapshots_memory_percent / 100.0};
  return launch;
}

}  // namespace cellar::host
