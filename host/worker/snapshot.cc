#include "host/worker/snapshot.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <csignal>
#include <utility>

#include "host/base/fds.h"
#include "host/base/process.h"
#include "host/wire/control.h"
#include "host/worker/birth.h"

namespace cellar::host {
namespace {

constexpr size_t kReadSize = 16u << 10;

absl::StatusOr<std::unique_ptr<Worker>> MakeUnborn(EventLoop& loop, Birth& birth,
                                                   WorkerListener& listener) {
  return Worker::Create(
      loop, std::move(birth.ends), *std::move(birth.ring),
      [] { return absl::UnavailableError("the copy could not be forked"); }, listener);
}

}  // namespace

void Snapshot::Take(EventLoop& loop, Worker& worker, bool cautious, TakeCallback done) {
  auto channel = MakeSocketPair(SOCK_STREAM);
  if (!channel.ok()) return done(channel.status());
  worker.Copy({.kind = wire::CopyKind::kAsleep, .cautious = cautious}, {channel->second.get()},
              [&loop, ours = std::move(channel->first),
               done = std::move(done)](absl::StatusOr<wire::Copied> copied) mutable {
                if (!copied.ok()) return done(copied.status());
                std::unique_ptr<Snapshot> taken(new Snapshot(loop, std::move(ours), *copied));
                if (absl::Status watched = taken->Watch(); !watched.ok()) return done(watched);
                done(std::move(taken));
              });
}

Snapshot::Snapshot(EventLoop& loop, UniqueFd channel, const wire::Copied& copied)
    : loop_(loop),
      channel_(std::move(channel)),
      pid_(copied.pid),
      cost_(absl::Microseconds(copied.fork_us)) {
  if (auto pidfd = OpenPidfd(pid_); pidfd.ok()) pidfd_ = *std::move(pidfd);
}

// One that nobody listens to could not answer when it is needed.
absl::Status Snapshot::Watch() {
  return loop_.Watch(channel_.get(), EPOLLIN | EPOLLRDHUP, [this](uint32_t) { OnChannel(); });
}

Snapshot::~Snapshot() {
  *alive_ = false;
  if (!channel_) return;
  loop_.Unwatch(channel_.get());
  // One that has not spoken yet ends when it finds its channel closed.
  Continue();
  if (confirmed_ && pidfd_) SignalPidfd(pidfd_.get(), SIGKILL);
}

absl::StatusOr<std::unique_ptr<Worker>> Snapshot::Restore(Worker& former,
                                                          WorkerListener& listener) {
  CELLAR_ASSIGN_OR_RETURN(Birth birth, MakeBirth());
  birth.ends.keeper = former.TakeKeeper();
  std::vector<int> fds = birth.Fds(wire::CopyFdCount(wire::CopyKind::kRestored));
  CELLAR_ASSIGN_OR_RETURN(std::unique_ptr<Worker> worker, MakeUnborn(loop_, birth, listener));
  // Not before the keeper has ended what the former worker left behind: it would end the new one
  // with it.
  worker->WhenCleared(former.keeper_is_clear(), [this, alive = alive_, fds = std::move(fds),
                                                 theirs = std::move(birth.worker_fds),
                                                 born = worker->WhenBorn()]() mutable {
    if (!*alive) return born(absl::UnavailableError("the snapshot has died"));
    Continue();
    copier_.Ask(channel_.get(), {.kind = wire::CopyKind::kRestored}, fds, std::move(born));
  });
  return worker;
}

absl::StatusOr<std::unique_ptr<Worker>> Snapshot::Branch(Worker& present, bool reseed,
                                                         WorkerListener& listener) {
  CELLAR_ASSIGN_OR_RETURN(Birth birth, MakeBirth());
  CELLAR_RETURN_IF_ERROR(AddKeeper(birth));
  std::vector<int> fds = birth.Fds(wire::CopyFdCount(wire::CopyKind::kBranched));
  CELLAR_ASSIGN_OR_RETURN(std::unique_ptr<Worker> worker, MakeUnborn(loop_, birth, listener));
  Continue();
  copier_.Ask(channel_.get(), {.kind = wire::CopyKind::kBranched, .reseed = reseed}, fds,
              present.KeepBranch(worker->WhenBorn()));
  return worker;
}

absl::StatusOr<std::unique_ptr<Worker>> BranchWorker(EventLoop& loop, Worker& source, bool reseed,
                                                     WorkerListener& listener) {
  CELLAR_ASSIGN_OR_RETURN(Birth birth, MakeBirth());
  CELLAR_RETURN_IF_ERROR(AddKeeper(birth));
  std::vector<int> fds = birth.Fds(wire::CopyFdCount(wire::CopyKind::kBranched));
  CELLAR_ASSIGN_OR_RETURN(std::unique_ptr<Worker> worker, MakeUnborn(loop, birth, listener));
  source.Copy({.kind = wire::CopyKind::kBranched, .reseed = reseed}, fds,
              source.KeepBranch(worker->WhenBorn()));
  return worker;
}

// A cell may have stopped it, also before it could speak; then it could not do what it is asked to.
void Snapshot::Continue() {
  if (pidfd_) SignalPidfd(pidfd_.get(), SIGCONT);
}

void Snapshot::Measure(const std::vector<int32_t>& pids, MeasureCallback done) {
  if (!channel_ || measured_) return;
  if (wire::SendFrame(channel_.get(), wire::MessageFrame(wire::Measure{.pids = pids}), {}).ok()) {
    measured_ = std::move(done);
  }
}

void Snapshot::OnChannel() {
  std::array<char, kReadSize> buffer;
  ssize_t size = recv(channel_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (size < 0) return;
  if (size == 0) return OnGone();
  decoder_.Feed(std::string_view(buffer.data(), static_cast<size_t>(size)));
  while (channel_) {
    auto frame = decoder_.Next();
    if (frame.ok() && !*frame) return;
    if (!frame.ok() || !Dispatch(**frame)) return OnGone();
  }
}

// False for what no snapshot says.
bool Snapshot::Dispatch(const wire::Frame& frame) {
  switch (static_cast<wire::MessageType>(frame.type)) {
    case wire::MessageType::kHello:
      confirmed_ = true;
      return true;
    case wire::MessageType::kCopied: {
      auto copied = wire::Decode<wire::Copied>(frame.payload);
      if (copied) copier_.OnCopied(*std::move(copied));
      return copied.has_value();
    }
    case wire::MessageType::kMeasured: {
      auto measured = wire::Decode<wire::Measured>(frame.payload);
      if (measured && measured_) std::exchange(measured_, nullptr)(measured->processes);
      return measured.has_value();
    }
    default:
      return false;
  }
}

void Snapshot::OnGone() {
  loop_.Unwatch(channel_.get());
  if (confirmed_ && pidfd_) SignalPidfd(pidfd_.get(), SIGKILL);
  channel_.reset();
  copier_.FailAll(absl::UnavailableError("the snapshot has died"));
  if (gone_) loop_.Post(std::exchange(gone_, nullptr));
}

}  // namespace cellar::host
