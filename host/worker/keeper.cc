#include "host/worker/keeper.h"

#include <sys/epoll.h>

#include <csignal>
#include <utility>

#include "host/base/process.h"

namespace cellar::host {
namespace {

constexpr char kOriginEnded[] = "the session that it branches off ended just then";

}  // namespace

Keeper::~Keeper() {
  lifeline_.Cut();
  Release();
  socket_.reset();  // it ends everything when its socket closes
  Continue();
}

absl::Status Keeper::Serve(KeeperListener& listener) {
  listener_ = &listener;
  Continue();
  return loop_.Watch(socket_.get(), EPOLLIN, [this](uint32_t) { OnSocket(); });
}

void Keeper::Release() {
  if (listener_ == nullptr) return;
  listener_ = nullptr;
  if (socket_) loop_.Unwatch(socket_.get());
  if (state_ == State::kServing || killed_unknown_) state_ = State::kClearing;
  killed_unknown_ = false;
  worker_pid_ = 0;
  clear_ = nullptr;
  for (auto& [keeper, branching] : std::exchange(branchings_, {})) {
    branching.born(absl::UnavailableError(kOriginEnded));
  }
}

template <typename Message>
void Keeper::Tell(const Message& message) {
  Continue();
  (void)wire::SendControl(socket_.get(), message);  // one that is gone shows on the socket
}

void Keeper::Signal(int signal, bool group) {
  Tell(wire::Signal{.signal = signal, .group = group});
}

void Keeper::Kill() {
  clear_ = nullptr;
  // Nobody has been asked for a worker yet; or there is an answer to come, and one is enough.
  if (state_ == State::kClearing || killed_unknown_) return;
  killed_unknown_ = state_ == State::kClear;
  Tell(wire::Kill{.worker_pid = worker_pid_});
}

void Keeper::KeepSnapshot(int pid) { Tell(wire::KeepSnapshot{.pid = pid}); }

void Keeper::Promote(int pid) { Tell(wire::Promote{.pid = pid}); }

Copier::Callback Keeper::KeepBranch(Copier::Callback born) {
  return [this, alive = lifeline_.watch(),
          born = std::move(born)](absl::StatusOr<wire::Copied> copied) mutable {
    if (!copied.ok()) return born(std::move(copied));
    if (!*alive || listener_ == nullptr) return born(absl::UnavailableError(kOriginEnded));
    Tell(wire::KeepBranch{.keeper_pid = copied->keeper_pid});
    branchings_[copied->keeper_pid] = {*std::move(copied), std::move(born)};
  };
}

void Keeper::Continue() {
  if (pidfd_) SignalPidfd(pidfd_.get(), SIGCONT);
}

void Keeper::WhenClear(absl::AnyInvocable<void()> clear) {
  if (state_ == State::kClear) return clear();
  clear_ = std::move(clear);
}

void Keeper::OnSocket() {
  auto message = wire::ReceiveControl(socket_.get());
  if (!message.ok()) return Lose();
  if (!*message) return;
  const std::string& payload = (*message)->payload;
  switch ((*message)->type) {
    case wire::MessageType::kCleared:
      return OnCleared();
    case wire::MessageType::kBranchKept:
      if (auto kept = wire::Decode<wire::BranchKept>(payload)) OnBranchKept(*kept);
      return;
    default:
      break;
  }
  if (state_ == State::kClearing) return;
  switch ((*message)->type) {
    case wire::MessageType::kKeeperHello:
      return OnHello(**message);
    case wire::MessageType::kWorkerExited:
      if (auto exited = wire::Decode<wire::WorkerExited>(payload)) {
        return listener_->OnWorkerExited(*exited);
      }
      break;
    case wire::MessageType::kForkFailed: {
      auto failed = wire::Decode<wire::ForkFailed>(payload);
      return listener_->OnForkFailed(
          ErrnoStatus(failed ? failed->error : 0, "a new worker could not be forked"));
    }
    default:
      break;
  }
  Lose();
}

// One that lives all the same ends everything when its socket closes.
void Keeper::Lose() {
  loop_.Unwatch(socket_.get());
  socket_.reset();
  listener_->OnKeeperGone();
}

void Keeper::OnHello(wire::ControlMessage& message) {
  auto hello = wire::Decode<wire::KeeperHello>(message.payload);
  // A cell that has taken the keeper's socket can say anything.
  if (!hello || hello->worker_pid <= 0 || worker_pid_ > 0 || message.fds.size() != 2) {
    return Lose();
  }
  state_ = State::kServing;
  killed_unknown_ = false;
  worker_pid_ = hello->worker_pid;
  pidfd_ = std::move(message.fds[1]);
  listener_->OnKeeperHello(worker_pid_, std::move(message.fds[0]));
}

void Keeper::OnCleared() {
  if (state_ == State::kServing) return;
  state_ = State::kClear;
  killed_unknown_ = false;
  if (clear_) std::exchange(clear_, nullptr)();
}

void Keeper::OnBranchKept(const wire::BranchKept& kept) {
  auto found = branchings_.extract(kept.keeper_pid);
  if (found.empty()) return;
  Branching& branching = found.mapped();
  if (!kept.lives) return branching.born(absl::UnavailableError(kOriginEnded));
  branching.born(std::move(branching.copied));
}

}  // namespace cellar::host
