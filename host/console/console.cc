#include "host/console/console.h"

namespace cellar::host {

absl::StatusOr<std::unique_ptr<Console>> Console::Create(Launch launch) {
  std::unique_ptr<Console> console(new Console(std::move(launch)));
  CELLAR_ASSIGN_OR_RETURN(console->foreground_, Foreground::Create());
  console->artifacts_ = std::make_unique<ArtifactStore>(console->launch_.artifacts_directory);
  console->writer_ = std::make_unique<SpillWriter>();
  console->janitor_ =
      std::make_unique<ArtifactJanitor>(console->loop(), console->launch_.artifacts_directory,
                                        ArtifactLimitsFrom(console->launch_.settings));
  console->templates_ = std::make_unique<TemplatePool>(console->loop());
  console->session_ = console->NewSession();
  return console;
}

std::unique_ptr<Session> Console::NewSession() {
  SessionOptions options = launch_.session;
  options.snapshot_account = &snapshots_;
  return std::make_unique<Session>(loop(), *templates_, storage(), std::move(options));
}

void Console::Finish() {
  session_->Close([this] { loop().Stop(); });
}

}  // namespace cellar::host
