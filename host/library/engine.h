// The loop thread of a Host and what lives on it: templates, sessions, the artifact writer. Other
// threads ask it and wait; it knows nothing of settings or of values.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "host/base/event_loop.h"
#include "host/library/reply.h"
#include "host/session/session.h"

namespace cellar {

class Engine {
 public:
  using SessionId = uint64_t;

  static absl::StatusOr<std::shared_ptr<Engine>> Start(const std::string& artifacts_directory);
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

  // Makes a request of a session and waits for the answer.
  template <typename T>
  using Answer = absl::AnyInvocable<void(absl::StatusOr<T>)>;
  template <typename T>
  absl::StatusOr<T> Ask(SessionId id,
                        absl::FunctionRef<void(host::Session& session, Answer<T> answer)> request);

 private:
  // Destroyed from the last to the first: sessions write to the store until their end.
  struct Parts {
    explicit Parts(const std::string& artifacts_directory) : store(artifacts_directory) {}

    host::ArtifactStore store;
    host::SpillWriter writer;
    std::unique_ptr<EventLoop> loop;
    std::unique_ptr<host::TemplatePool> templates;
    struct OpenSession {
      std::unique_ptr<host::Session> session;
      std::vector<EventLoop::Task> when_closed;  // not empty: it is closing
    };
    std::map<SessionId, OpenSession> sessions;
    SessionId next_id = 1;
    bool leaving = false;
  };

  explicit Engine(std::unique_ptr<Parts> parts);

  bool OnLoopThread() const { return std::this_thread::get_id() == loop_thread_; }
  absl::Status CheckMayBlock() const;
  absl::Status Post(EventLoop::Task task);

  // On the loop's thread.
  host::Session* Find(SessionId id);
  void CloseAll();
  void StartClosing(SessionId id, EventLoop::Task when_closed);
  void Forget(SessionId id);

  absl::Mutex mutex_;
  bool accepting_ ABSL_GUARDED_BY(mutex_) = true;
  std::unique_ptr<Parts> parts_;
  std::thread thread_;
  std::thread::id loop_thread_;
};

template <typename T>
absl::StatusOr<T> Engine::Ask(
    SessionId id, absl::FunctionRef<void(host::Session& session, Answer<T> answer)> request) {
  CELLAR_RETURN_IF_ERROR(CheckMayBlock());
  Reply<absl::StatusOr<T>> reply;
  CELLAR_RETURN_IF_ERROR(Post([&, id] {
    host::Session* session = Find(id);
    if (session == nullptr) {
      return reply.Give(absl::FailedPreconditionError("the session is closed"));
    }
    request(*session, [&reply](absl::StatusOr<T> value) { reply.Give(std::move(value)); });
  }));
  return reply.Wait();
}

}  // namespace cellar
