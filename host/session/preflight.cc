#include "host/session/preflight.h"

#include <utility>

namespace cellar::host {
namespace {

constexpr absl::Duration kLimit = absl::Seconds(10);

absl::Status ProblemOf(const absl::StatusOr<CellOutcome>& outcome) {
  if (!outcome.ok()) return outcome.status();
  if (outcome->ok()) return absl::OkStatus();
  return absl::UnavailableError(outcome->error ? outcome->error->evalue : outcome->state_detail);
}

}  // namespace

ToolOffer OfferWithout(const absl::Status& problem) {
  return {.mode = ToolMode::kBashOnly, .reason = std::string(problem.message())};
}

bool WantsPreflight(const Launch& launch, const Environment& env) {
  return launch.settings.tool_mode != ToolMode::kBashOnly &&
         EnvironmentValue(env, "PI_PYTHON_SKIP_CHECK") != "1";
}

Preflight::Preflight(EventLoop& loop, TemplatePool& templates, OutputStorage storage,
                     const Launch& launch, absl::AnyInvocable<void(ToolOffer)> done)
    : session_(loop, templates, storage, launch.session) {
  session_.Run(
      {.code = "None", .timeout = kLimit},
      [this, &loop, mode = launch.settings.tool_mode,
       done = std::move(done)](absl::StatusOr<CellOutcome> outcome) mutable {
        const absl::Status problem = ProblemOf(outcome);
        ToolOffer offer = problem.ok() ? ToolOffer{.mode = mode} : OfferWithout(problem);
        session_.Close([&loop, offer = std::move(offer), done = std::move(done)]() mutable {
          loop.Post([offer = std::move(offer), done = std::move(done)]() mutable {
            done(std::move(offer));
          });
        });
      });
}

}  // namespace cellar::host
