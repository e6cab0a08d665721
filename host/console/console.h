// What a command needs to run cells on its own main thread: the loop, one session, and the signals
// of a terminal. Leaves nothing behind when it is destroyed.
#pragma once

#include <functional>
#include <memory>

#include "host/base/event_loop.h"
#include "host/output/artifact_janitor.h"
#include "host/output/artifacts.h"
#include "host/output/spill_writer.h"
#include "host/session/launch.h"
#include "host/session/session.h"

namespace cellar::host {

class Console {
 public:
  static absl::StatusOr<std::unique_ptr<Console>> Create(Launch launch);
  ~Console();

  EventLoop& loop() { return *loop_; }
  const ArtifactStore& artifacts() const { return *artifacts_; }
  TemplatePool& templates() { return *templates_; }
  Session& session() { return *session_; }
  const Launch& launch() const { return launch_; }
  OutputStorage storage() { return {writer_.get(), artifacts_.get()}; }
  std::unique_ptr<Session> NewSession();

  // `on_interrupt` is called for Ctrl-C (SIGINT), `on_resize`, which may be null, when the terminal
  // has another size; SIGTERM and SIGHUP end the loop at once.
  absl::Status WatchSignals(std::function<void()> on_interrupt,
                            std::function<void()> on_resize = nullptr);
  // The signal that ended the loop, or 0.
  int ended_by() const { return ended_by_; }

  // Closes the session and stops the loop; RunLoop returns then.
  void Finish();
  void RunLoop() { loop_->Run(); }

 private:
  explicit Console(Launch launch) : launch_(std::move(launch)) {}

  Launch launch_;
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<ArtifactStore> artifacts_;
  std::unique_ptr<SpillWriter> writer_;
  std::unique_ptr<ArtifactJanitor> janitor_;
  std::unique_ptr<TemplatePool> templates_;
  std::unique_ptr<Session> session_;
  UniqueFd signals_;
  int ended_by_ = 0;
};

}  // namespace cellar::host
