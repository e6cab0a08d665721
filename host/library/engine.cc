#include "host/library/engine.h"

#include <system_error>

#include "host/base/signal_block.h"

namespace cellar {

absl::StatusOr<std::shared_ptr<Engine>> Engine::Start(const std::string& artifacts_directory,
                                                      const host::ArtifactLimits& limits) {
  SignalBlock block;
  CELLAR_ASSIGN_OR_RETURN(std::unique_ptr<EventLoop> loop, EventLoop::Create());
  // std::thread has no other way to say that there is no room for one.
  try {
    auto engine = std::shared_ptr<Engine>(new Engine(std::move(loop), artifacts_directory, limits));
    CELLAR_ASSIGN_OR_RETURN(engine->thread_, LoopThread::Start(*engine->loop_));
    return engine;
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(std::string("starting a thread: ") + error.what());
  }
}

Engine::Engine(std::unique_ptr<EventLoop> loop, const std::string& artifacts_directory,
               const host::ArtifactLimits& limits)
    : loop_(std::move(loop)),
      parts_(std::make_unique<Parts>(*loop_, artifacts_directory, limits)) {}

Engine::~Engine() = default;

void Engine::Shutdown() {
  loop_->Post([this] { CloseAll(); });
  thread_->Join();
  parts_.reset();
}

absl::StatusOr<Engine::SessionId> Engine::Open(host::SessionOptions options) {
  Reply<absl::StatusOr<SessionId>> reply;
  return Await<SessionId>(reply, [&] {
    if (parts_->leaving) return reply.Give(absl::FailedPreconditionError("the host is ending"));
    options.snapshot_account = &parts_->snapshots;
    auto session = std::make_unique<host::Session>(
        *loop_, parts_->templates,
        host::OutputStorage{.writer = &parts_->writer, .artifacts = parts_->store},
        std::move(options));
    if (absl::Status status = session->Prepare(); !status.ok()) return reply.Give(status);
    SessionId id = parts_->next_id++;
    parts_->memory.Add(*session);
    parts_->sessions[id].session = std::move(session);
    reply.Give(id);
  });
}

absl::StatusOr<Engine::Branched> Engine::Branch(SessionId id, host::BranchOptions options) {
  return Ask<Branched>(id, [&](host::Session& session, Answer<Branched> answer) {
    session.Branch(options,
                   [this, answer = std::move(answer)](absl::StatusOr<host::Branched> made) mutable {
                     if (!made.ok()) return answer(made.status());
                     SessionId branch = parts_->next_id++;
                     parts_->memory.Add(*made->session);
                     parts_->sessions[branch].session = std::move(made->session);
                     answer(Branched{.id = branch, .standing = std::move(made->standing)});
                   });
  });
}

void Engine::Close(SessionId id) {
  if (loop_->OnLoopThread()) {
    loop_->Post([this, id] { StartClosing(id, [] {}); });
    return;
  }
  Reply<absl::StatusOr<bool>> closed;
  (void)Await<bool>(closed, [&, id] { StartClosing(id, [&closed] { closed.Give(true); }); });
}

void Engine::Interrupt(SessionId id) {
  // A loop that has ended does nothing of what is posted: there is nothing left to interrupt.
  loop_->Post([this, id] {
    if (host::Session* session = Find(id)) session->Interrupt();
  });
}

void Engine::RenewOffers() {
  loop_->Post([this] {
    for (auto& [id, open] : parts_->sessions) open.session->RenewOffer();
  });
}

absl::Status Engine::CheckMayBlock() const {
  if (!loop_->OnLoopThread()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "a call that waits for the host was made on the host's own thread, from an observer");
}

host::Session* Engine::Find(SessionId id) {
  auto found = parts_->sessions.find(id);
  return found == parts_->sessions.end() ? nullptr : found->second.session.get();
}

void Engine::CloseAll() {
  parts_->leaving = true;
  if (parts_->sessions.empty()) return loop_->Stop();
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
  found->second.session->Close([this, id] { loop_->Post([this, id] { Forget(id); }); });
}

void Engine::Forget(SessionId id) {
  auto closed = parts_->sessions.extract(id);
  closed.mapped().session.reset();
  for (EventLoop::Task& task : closed.mapped().when_closed) task();
  if (parts_->leaving && parts_->sessions.empty()) loop_->Stop();
}

}  // namespace cellar
