#include "host/cli/opening.h"

#include <filesystem>
#include <system_error>

#include "host/base/status.h"
#include "host/session/launch.h"

namespace cellar::host {

absl::StatusOr<Opening> OpeningHere(const Environment& env, const std::string& interpreter) {
  std::error_code error;
  Opening opening = {.cwd = std::filesystem::current_path(error).string()};
  if (error) return ErrnoStatus(error.value(), "finding the directory");
  if (interpreter.empty() && EnvironmentValue(env, "VIRTUAL_ENV").empty() &&
      EnvironmentValue(env, "CONDA_PREFIX").empty()) {
    return opening;
  }
  CELLAR_ASSIGN_OR_RETURN(
      Launch launch, PrepareLaunch({.env = env, .cwd = opening.cwd, .interpreter = interpreter}));
  opening.interpreter = launch.interpreter.executable;
  return opening;
}

}  // namespace cellar::host
