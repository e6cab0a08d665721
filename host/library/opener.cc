#include "host/library/opener.h"

#include <utility>

#include "host/base/status.h"
#include "host/runtime/environment.h"

namespace cellar {

absl::StatusOr<std::unique_ptr<const Opener>> Opener::Make(HostOptions options) {
  host::LaunchQuery query = {.env = host::CurrentEnvironment(),
                             .interpreter = options.interpreter,
                             .preload = options.preload,
                             .worker_program = options.worker_program,
                             .artifacts_directory = options.artifacts_directory};
  CELLAR_ASSIGN_OR_RETURN(host::Launch launch, host::PrepareLaunch(query));
  // The program may change its directory later; sessions without one of their own stay here.
  query.cwd = launch.session.cwd;
  return std::unique_ptr<const Opener>(
      new Opener(std::move(options), std::move(query), std::move(launch)));
}

Opener::Opener(HostOptions options, host::LaunchQuery query, host::Launch launch)
    : options_(std::move(options)), query_(std::move(query)), launch_(std::move(launch)) {}

absl::StatusOr<host::SessionOptions> Opener::Prepare(SessionOptions options) const {
  CELLAR_RETURN_IF_ERROR(host::ValidateOverrides(options.environment));
  host::SessionOptions session = launch_.session;
  if (!options.cwd.empty() || !options.interpreter.empty() || !options.preload.empty()) {
    host::LaunchQuery query = query_;
    if (!options.cwd.empty()) query.cwd = options.cwd;
    if (!options.interpreter.empty()) query.interpreter = options.interpreter;
    if (!options.preload.empty()) query.preload = options.preload;
    CELLAR_ASSIGN_OR_RETURN(host::Launch launch, host::PrepareLaunch(query));
    session = std::move(launch.session);
  }
  session.id = std::move(options.id);
  session.bridge = options_.bridge;
  if (options_.bridge_limit) session.bridge_limit = *options_.bridge_limit;
  if (options_.value_limit) session.value_limit = *options_.value_limit;
  session.sys_path = std::move(options.sys_path);
  for (auto& [name, value] : options.environment) session.environment.push_back({name, value});
  if (options_.interrupt_grace) session.interrupt_grace = *options_.interrupt_grace;
  if (options.snapshots) session.snapshots = *options.snapshots;
  return session;
}

}  // namespace cellar
