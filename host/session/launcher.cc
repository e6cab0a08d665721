#include "host/session/launcher.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <utility>

namespace cellar::host {

Launcher::Launcher(EventLoop& loop, LaunchQuery base, Launch launch)
    : loop_(loop),
      base_(std::move(base)),
      launch_(std::move(launch)),
      leaving_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  base_.cancel = leaving_.get();
}

Launcher::~Launcher() {
  lifeline_.Cut();
  eventfd_write(leaving_.get(), 1);
}

void Launcher::Prepare(SessionOpening opening, Callback done) {
  LaunchQuery query = base_;
  query.cwd = opening.cwd.empty() ? launch_.session.cwd : std::move(opening.cwd);
  if (!opening.interpreter.empty()) query.interpreter = std::move(opening.interpreter);
  if (opening.env) query.env = *std::move(opening.env);
  Lane& lane = *std::ranges::min_element(lanes_, {}, &Lane::under_way);
  ++lane.under_way;
  lane.thread.Run([&loop = loop_, &lane, alive = lifeline_.watch(), query = std::move(query),
                   done = std::move(done)]() mutable {
    absl::StatusOr<Launch> launch = PrepareLaunch(query);
    loop.Post([&lane, alive, launch = std::move(launch), done = std::move(done)]() mutable {
      if (!*alive) return;
      --lane.under_way;
      done(std::move(launch));
    });
  });
}

}  // namespace cellar::host
