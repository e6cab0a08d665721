// A host::Session whose loop the test itself runs: for options and moments that the library does
// not offer. Measurements use it too.
#pragma once

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "host/base/event_loop.h"
#include "host/session/launch.h"
#include "host/session/session.h"

namespace cellar::testing {

class LoopSession {
 public:
  // What the session is started with; `environment` on top of a bare one.
  static absl::StatusOr<host::Launch> Prepare(const std::string& directory,
                                              host::Environment environment = {},
                                              std::vector<std::string> preload = {}) {
    const char* worker = std::getenv("CELLAR_WORKER");
    environment.insert({{"PATH", "/usr/bin:/bin"}, {"HOME", directory}});
    return host::PrepareLaunch({.env = std::move(environment),
                                .cwd = directory,
                                .preload = std::move(preload),
                                .worker_program = worker != nullptr ? worker : ""});
  }

  LoopSession(host::SessionOptions options, const std::string& artifacts)
      : options_(options),
        store_(artifacts),
        loop_(*EventLoop::Create()),
        templates_(std::make_unique<host::TemplatePool>(*loop_)),
        session_(std::make_unique<host::Session>(
            *loop_, *templates_, host::OutputStorage{&writer_, store_}, std::move(options))) {}
  ~LoopSession() {
    session_->Close([this] { loop_->Stop(); });
    loop_->Run();
    session_.reset();
  }

  // Interrupts the cell that long after it was sent to the worker.
  absl::StatusOr<host::CellOutcome> Run(
      std::string code, std::optional<absl::Duration> interrupt_after = std::nullopt) {
    absl::StatusOr<host::CellOutcome> answer = absl::UnknownError("no answer");
    EventLoop::TimerId timer = 0;
    loop_->Post([&] {
      session_->Run({.code = std::move(code)}, [&](absl::StatusOr<host::CellOutcome> outcome) {
        answer = std::move(outcome);
        loop_->Stop();
      });
      if (interrupt_after)
        timer = loop_->After(*interrupt_after, [this] { session_->Interrupt(); });
    });
    loop_->Run();
    loop_->Cancel(timer);
    return answer;
  }

  // Of the template, once it has started.
  std::vector<std::string> warnings() {
    absl::StatusOr<host::Template*> source = templates_->Get(options_.runtime);
    if (!source.ok() || !(*source)->ready()) return {"the template has not started"};
    return (*source)->ready()->warnings;
  }

  EventLoop& loop() { return *loop_; }
  host::Session& session() { return *session_; }

 private:
  host::SessionOptions options_;
  host::SpillWriter writer_;
  host::ArtifactStore store_;
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<host::TemplatePool> templates_;
  std::unique_ptr<host::Session> session_;
};

}  // namespace cellar::testing
