#include "host/session/jobs.h"

#include "host/session/session.h"

namespace cellar::host {

void Fail(Job job, const absl::Status& status) {
  std::visit([&](auto& failed) { failed.done(status); }, job);
}

}  // namespace cellar::host
