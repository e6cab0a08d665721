#include "host/cli/opening.h"

#include <filesystem>
#include <system_error>

#include "host/base/status.h"
#include "host/output/printable.h"
#include "host/session/launch.h"

namespace cellar::host {

absl::StatusOr<SessionOpening> OpeningHere(const Environment& env, const std::string& interpreter) {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  if (error == std::errc::no_such_file_or_directory) {
    return absl::NotFoundError("the current directory has been deleted");
  }
  if (error) return ErrnoStatus(error.value(), "finding the current directory");
  return OpeningIn(here.string(), env, interpreter);
}

absl::StatusOr<SessionOpening> OpeningIn(const std::string& cwd, const Environment& env,
                                         const std::string& interpreter) {
  std::error_code error;
  SessionOpening opening = {.cwd = std::filesystem::canonical(cwd, error).string()};
  if (error) return ErrnoStatus(error.value(), "finding the directory " + cwd);
  if (interpreter.empty() && EnvironmentValue(env, "VIRTUAL_ENV").empty() &&
      EnvironmentValue(env, "CONDA_PREFIX").empty()) {
    return opening;
  }
  CELLAR_ASSIGN_OR_RETURN(
      Launch launch, PrepareLaunch({.env = env, .cwd = opening.cwd, .interpreter = interpreter}));
  opening.interpreter = launch.interpreter.executable;
  for (const std::string& warning : launch.interpreter.warnings) {
    opening.notices.push_back(Printable(warning));
  }
  return opening;
}

}  // namespace cellar::host
