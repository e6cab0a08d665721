// What a command needs to run cells on its own main thread: the foreground, and one session. Leaves
// nothing behind when it is destroyed.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "host/console/foreground.h"
#include "host/output/artifact_janitor.h"
#include "host/output/artifacts.h"
#include "host/output/spill_writer.h"
#include "host/session/launch.h"
#include "host/session/session.h"

namespace cellar::host {

class Console {
 public:
  static absl::StatusOr<std::unique_ptr<Console>> Create(Launch launch);

  Foreground& foreground() { return *foreground_; }
  EventLoop& loop() { return foreground_->loop(); }
  const ArtifactStore& artifacts() const { return *artifacts_; }
  TemplatePool& templates() { return *templates_; }
  Session& session() { return *session_; }
  const Launch& launch() const { return launch_; }
  OutputStorage storage() { return {writer_.get(), *artifacts_}; }
  std::unique_ptr<Session> NewSession();

  // As the foreground's.
  absl::Status WatchSignals(std::function<void()> on_interrupt,
                            std::function<void()> on_resize = nullptr) {
    return foreground_->WatchSignals(std::move(on_interrupt), std::move(on_resize));
  }
  int exit_code() const { return foreground_->exit_code(); }

  // Closes the session and stops the loop; RunLoop returns then.
  void Finish();
  void RunLoop() { loop().Run(); }

 private:
  explicit Console(Launch launch) : launch_(std::move(launch)) {}

  Launch launch_;
  std::unique_ptr<Foreground> foreground_;
  std::unique_ptr<ArtifactStore> artifacts_;
  std::unique_ptr<SpillWriter> writer_;
  std::unique_ptr<ArtifactJanitor> janitor_;
  std::unique_ptr<TemplatePool> templates_;
  SnapshotAccount snapshots_;
  std::unique_ptr<Session> session_;
};

}  // namespace cellar::host
