#include "host/library/engine.h"

#include <pthread.h>

#include <csignal>

namespace cellar {
namespace {

// Threads started while it lives take no signals: the program's handlers expect its own threads.
class SignalBlock {
 public:
  SignalBlock() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalBlock() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalBlock(const SignalBlock&) = delete;
  SignalBlock& operator=(const SignalBlock&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<Engine>> Engine::Start(const std::string& artifacts_directory) {
  SignalBlock block;
  auto parts = std::make_unique<Parts>(artifacts_directory);
  CELLAR_ASSIGN_OR_RETURN(parts->loop, EventLoop::Create());
  parts->templates = std::make_unique<host::TemplatePool>(*parts->loop);
  return std::shared_ptr<Engine>(new Engine(std::move(parts)));
}

Engine::Engine(std::unique_ptr<Parts> parts)
    : parts_(std::move(parts)),
      thread_([loop = parts_->loop.get()] { loop->Run(); }),
      loop_thread_(thread_.get_id()) {}

Engine::~Engine() = default;

void Engine::Shutdown() {
  {
    // In one step, so that no request comes after the end.
    absl::MutexLock lock(&mutex_);
    accepting_ = false;
    parts_->loop->Post([this] { CloseAll(); });
  }
  thread_.join();
  parts_.reset();
}

absl::StatusOr<Engine::SessionId> Engine::Open(host::SessionOptions options) {
  CELLAR_RETURN_IF_ERROR(CheckMayBlock());
  Reply<absl::StatusOr<SessionId>> reply;
  CELLAR_RETURN_IF_ERROR(Post([&] {
    auto session = std::make_unique<host::Session>(
        *parts_->loop, *parts_->templates,
        host::OutputStorage{.writer = &parts_->writer, .artifacts = &parts_->store},
        std::move(options));
    if (absl::Status status = session->Prepare(); !status.ok()) return reply.Give(status);
    SessionId id = parts_->next_id++;
    parts_->sessions[id].session = std::move(session);
    reply.Give(id);
  }));
  return reply.Wait();
}

absl::StatusOr<Engine::Branched> Engine::Branch(SessionId id, host::BranchOptions options) {
  return Ask<Branched>(id, [&](host::Session& session, Answer<Branched> answer) {
    session.Branch(options, [this, answer = std::move(answer)](
                                absl::StatusOr<host::Session::Branched> made) mutable {
      if (!made.ok()) return answer(made.status());
      SessionId branch = parts_->next_id++;
      parts_->sessions[branch].session = std::move(made->session);
      answer(Branched{.id = branch, .standing = std::move(made->standing)});
    });
  });
}

void Engine::Close(SessionId id) {
  if (OnLoopThread()) {
    (void)Post([this, id] { StartClosing(id, [] {}); });
    return;
  }
  Reply<bool> closed;
  if (Post([&, id] { StartClosing(id, [&closed] { closed.Give(true); }); }).ok()) closed.Wait();
}

void Engine::Interrupt(SessionId id) {
  // A host that is gone has nothing left to interrupt.
  (void)Post([this, id] {
    if (host::Session* session = Find(id)) session->Interrupt();
  });
}

absl::Status Engine::CheckMayBlock() const {
  if (!OnLoopThread()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "a call that waits for the host was made on the host's own thread, from an observer");
}

absl::Status Engine::Post(EventLoop::Task task) {
  absl::MutexLock lock(&mutex_);
  if (!accepting_) return absl::FailedPreconditionError("the host has ended");
  parts_->loop->Post(std::move(task));
  return absl::OkStatus();
}

host::Session* Engine::Find(SessionId id) {
  auto found = parts_->sessions.find(id);
  return found == parts_->sessions.end() ? nullptr : found->second.session.get();
}

void Engine::CloseAll() {
  parts_->leaving = true;
  if (parts_->sessions.empty()) return parts_->loop->Stop();
  std::vector<SessionId> ids;
  for (const auto& [id, open] : parts_->sessions) ids.push_back(id);
  for (SessionId id : ids) StartClosing(id, [] {});
}

void Engine::StartClosing(SessionId id, EventLoop::Task when_closed) {
  auto found = parts_->sessions.find(id);
  if (found == parts_->sessions.end()) return when_closed();
  std::vector<EventLoop::Task>& waiting = found->second.when_closed;
  waiting.push_back(std::move(when_closed));
  if (waiting.size() > 1) return;
  // Posted, because a session must not be destroyed in a call that it makes.
  found->second.session->Close([this, id] { parts_->loop->Post([this, id] { Forget(id); }); });
}

void Engine::Forget(SessionId id) {
  auto closed = parts_->sessions.extract(id);
  closed.mapped().session.reset();
  for (EventLoop::Task& task : closed.mapped().when_closed) task();
  if (parts_->leaving && parts_->sessions.empty()) parts_->loop->Stop();
}

}  // namespace cellar
