#include "host/session/launcher.h"

#include <utility>

namespace cellar::host {

Launcher::Launcher(EventLoop& loop, LaunchQuery base, Launch launch)
    : loop_(loop), base_(std::move(base)), launch_(std::move(launch)) {}

Launcher::~Launcher() { *alive_ = false; }

void Launcher::Prepare(std::string cwd, std::string interpreter, Callback done) {
  LaunchQuery query = base_;
  query.cwd = cwd.empty() ? launch_.session.cwd : std::move(cwd);
  if (!interpreter.empty()) query.interpreter = std::move(interpreter);
  thread_.Run(
      [&loop = loop_, alive = alive_, query = std::move(query), done = std::move(done)]() mutable {
        absl::StatusOr<Launch> launch = PrepareLaunch(query);
        loop.Post([alive, launch = std::move(launch), done = std::move(done)]() mutable {
          if (*alive) done(std::move(launch));
        });
      });
}

}  // namespace cellar::host
