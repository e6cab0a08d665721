#include "host/console/call_desk.h"

#include <utility>

namespace cellar::host {

CallDesk::CallDesk(Console& console, const LaunchQuery& query)
    : console_(console),
      launcher_(console.loop(), query, console.launch()),
      registry_(console.loop(), console.templates(), console.storage(), launcher_,
                LimitsFrom(console.launch().settings)),
      service_(console.loop(), registry_) {}

int CallDesk::Run() {
  console_.RunLoop();
  return console_.exit_code();
}

void CallDesk::Finish() {
  if (std::exchange(finishing_, true)) return;
  registry_.CloseAll([this] { console_.loop().Stop(); });
}

}  // namespace cellar::host
