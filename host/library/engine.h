// The loop of a Host and what lives on it: templates, sessions, the artifact writer. Threads ask it
// and wait; it knows nothing of settings or of values.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "host/base/event_loop.h"
#include "host/library/loop_thread.h"
#include "host/library/reply.h"
#include "host/output/artifact_janitor.h"
#include "host/session/memory_watch.h"
#include "host/session/session.h"

namespace cellar {

class Engine {
 public:
  using SessionId = uint64_t;

  static absl::StatusOr<std::shared_ptr<Engine>> Start(const std::string& artifacts_directory,
                                                       const host::ArtifactLimits& limits);
  // Shutdown() comes first.
  ~Engine();

  // Closes all sessions, ends the thread and what lives on it. Later requests fail.
  void Shutdown();

  absl::StatusOr<SessionId> Open(host::SessionOptions options);
  struct Branched {
    SessionId id;
    host::Standing standing;
  };
  absl::StatusOr<Branched> Branch(SessionId id, host::BranchOptions options);
  void Close(SessionId id);
  void Interrupt(SessionId id);
  // Of all sessions.
  void RenewOffers();

  // Makes a request of a session and waits for the answer.
  template <typename T>
  using Answer = absl::AnyInvocable<void(absl::StatusOr<T>)>;
  template <typename T>
  absl::StatusOr<T> Ask(SessionId id,
                        absl::FunctionRef<void(host::Session& session, Answer<T> answer)> request);

 private:
  // Destroyed from the last to the first: sessions write to the store until their end.
  struct Parts {
    Parts(EventLoop& loop, const std::string& artifacts_directory,
          const host::ArtifactLimits& limits)
        : store(artifacts_directory),
          janitor(loop, artifacts_directory, limits),
          templates(loop),
          memory(loop, [this](absl::FunctionRef<void(host::Session&)> visit) {
            for (auto& [id, open] : sessions) visit(*open.session);
          }) {}

    host::ArtifactStore store;
    host::SpillWriter writer;
    host::ArtifactJanitor janitor;
    host::TemplatePool templates;
    host::SnapshotAccount snapshots;  // of all sessions
    struct OpenSession {
      std::unique_ptr<host::Session> session;
      std::vector<EventLoop::Task> when_closed;  // not empty: it is closing
    };
    std::map<SessionId, OpenSession> sessions;
    SessionId next_id = 1;
    bool leaving = false;
    host::MemoryWatch memory;
  };

  Engine(std::unique_ptr<EventLoop> loop, const std::string& artifacts_directory,
         const host::ArtifactLimits& limits);

  // Does `task` on the loop and waits until it, or what it started, has given the reply.
  template <typename T>
  absl::StatusOr<T> Await(Reply<absl::StatusOr<T>>& reply, EventLoop::Task task);
  absl::Status CheckMayBlock() const;

  // On the loop's thread.
  host::Session* Find(SessionId id);
  void CloseAll();
  void StartClosing(SessionId id, EventLoop::Task when_closed);
  void Forget(SessionId id);

  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<Parts> parts_;  // until the shutdown
  std::unique_ptr<LoopThread> thread_;
};

template <typename T>
absl::StatusOr<T> Engine::Await(Reply<absl::StatusOr<T>>& reply, EventLoop::Task task) {
  CELLAR_RETURN_IF_ERROR(CheckMayBlock());
  if (!thread_->Await(std::move(task), reply.given())) {
    return absl::FailedPreconditionError("the host has ended");
  }
  return reply.Take();
}

template <typename T>
absl::StatusOr<T> Engine::Ask(
    SessionId id, absl::FunctionRef<void(host::Session& session, Answer<T> answer)> request) {
  Reply<absl::StatusOr<T>> reply;
  return Await<T>(reply, [&, id] {
    host::Session* session = Find(id);
    if (session == nullptr) {
      return reply.Give(absl::FailedPreconditionError("the session is closed"));
    }
    request(*session, [&reply](absl::StatusOr<T> value) { reply.Give(std::move(value)); });
  });
}

}  // namespace cellar
