#include "host/cli/opening.h"

#include <filesystem>
#include <system_error>

#include "host/base/status.h"

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
  SessionOpening opening = {.cwd = std::filesystem::canonical(cwd, error).string(),
                            .interpreter = interpreter,
                            .env = env};
  if (error) return ErrnoStatus(error.value(), "finding the directory " + cwd);
  // Which the daemon would look for in its own directory.
  if (auto artifacts = opening.env->find("PI_ARTIFACTS_DIR"); artifacts != opening.env->end()) {
    artifacts->second = std::filesystem::absolute(artifacts->second, error).string();
  }
  return opening;
}

}  // namespace cellar::host
