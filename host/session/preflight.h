// Whether cells can be run at all, found out by running one, and what that means for the tools that
// an agent is offered.
#pragma once

#include <string>

#include "absl/functional/any_invocable.h"
#include "host/session/launch.h"
#include "host/session/session.h"

namespace cellar::host {

struct ToolOffer {
  ToolMode mode = ToolMode::kBoth;
  std::string reason;  // why it is not the mode that was asked for; or empty
};

// What is offered without a launch, or with an interpreter that does not start: only the shell.
ToolOffer OfferWithout(const absl::Status& problem);

// The check is left out when the mode is bash-only anyway, or when PI_PYTHON_SKIP_CHECK=1 says so.
bool WantsPreflight(const Launch& launch, const Environment& env);

// Lives on the loop's thread. `done` is called once, from a posted task, in which the object may be
// destroyed.
class Preflight {
 public:
  Preflight(EventLoop& loop, TemplatePool& templates, OutputStorage storage, const Launch& launch,
            absl::AnyInvocable<void(ToolOffer)> done);
  Preflight(const Preflight&) = delete;

 private:
  Session session_;
};

}  // namespace cellar::host
