// What a command needs to run calls: on its console, sessions by their keys and the service that
// runs calls on them.
#pragma once

#include "host/console/console.h"
#include "host/eval/call_service.h"
#include "host/session/launcher.h"
#include "host/session/registry.h"

namespace cellar::host {

class CallDesk {
 public:
  // `query` is what the console's launch was prepared from. The console outlives it.
  CallDesk(Console& console, const LaunchQuery& query);
  CallDesk(const CallDesk&) = delete;

  SessionRegistry& registry() { return registry_; }
  CallService& service() { return service_; }

  // Until Finish() has done its work: 0; or until a signal has come: the exit code that says so.
  int Run();
  // Closes all sessions, then stops the loop.
  void Finish();

 private:
  Console& console_;
  Launcher launcher_;
  SessionRegistry registry_;
  CallService service_;
  bool finishing_ = false;
};

}  // namespace cellar::host
