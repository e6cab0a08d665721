#include "host/worker/snapshot.h"

#include <sys/socket.h>

#include <csignal>
#include <utility>

#include "host/base/fds.h"
#include "host/base/process.h"
#include "host/wire/control.h"
#include "host/worker/birth.h"

namespace cellar::host {
namespace {

absl::StatusOr<std::unique_ptr<Worker>> MakeUnborn(EventLoop& loop, Birth& birth,
                                                   std::unique_ptr<Keeper> keeper,
                                                   WorkerListener& listener) {
  return Worker::Create(
      loop, std::move(birth.ends), *std::move(birth.ring), std::move(keeper),
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
                // One that nobody listens to could not answer when it is needed.
                absl::Status watched = taken->channel_.Watch();
                if (!watched.ok()) return done(watched);
                done(std::move(taken));
              });
}

Snapshot::Snapshot(EventLoop& loop, UniqueFd channel, const wire::Copied& copied)
    : loop_(loop),
      channel_(loop, std::move(channel), *this),
      pid_(copied.pid),
      cost_(absl::Microseconds(copied.fork_us)) {
  if (auto pidfd = OpenPidfd(pid_); pidfd.ok()) pidfd_ = *std::move(pidfd);
}

Snapshot::~Snapshot() {
  lifeline_.Cut();
  Continue();  // so that one that has not spoken yet finds its channel closed, and ends
  Kill();
}

absl::StatusOr<std::unique_ptr<Worker>> Snapshot::Restore(Worker& former,
                                                          WorkerListener& listener) {
  CELLAR_ASSIGN_OR_RETURN(Birth birth, MakeBirth());
  std::vector<int> fds = birth.Fds(wire::CopyFdCount(wire::CopyKind::kRestored));
  CELLAR_ASSIGN_OR_RETURN(std::unique_ptr<Worker> worker,
                          MakeUnborn(loop_, birth, former.TakeKeeper(), listener));
  worker->keeper().WhenClear([this, alive = lifeline_.watch(), fds = std::move(fds),
                              theirs = std::move(birth.worker_fds),
                              born = worker->WhenBorn()]() mutable {
    if (!*alive) return born(absl::UnavailableError("the snapshot has died"));
    Continue();
    copier_.Ask(channel_.socket(), {.kind = wire::CopyKind::kRestored}, fds, std::move(born));
  });
  return worker;
}

absl::StatusOr<std::unique_ptr<Worker>> Snapshot::Branch(Worker& present, bool reseed,
                                                         WorkerListener& listener) {
  CELLAR_ASSIGN_OR_RETURN(Birth birth, MakeBirth());
  CELLAR_ASSIGN_OR_RETURN(std::unique_ptr<Keeper> keeper, AddKeeper(loop_, birth));
  std::vector<int> fds = birth.Fds(wire::CopyFdCount(wire::CopyKind::kBranched));
  CELLAR_ASSIGN_OR_RETURN(std::unique_ptr<Worker> worker,
                          MakeUnborn(loop_, birth, std::move(keeper), listener));
  Continue();
  copier_.Ask(channel_.socket(), {.kind = wire::CopyKind::kBranched, .reseed = reseed}, fds,
              present.keeper().KeepBranch(worker->WhenBorn()));
  return worker;
}

absl::StatusOr<std::unique_ptr<Worker>> BranchWorker(EventLoop& loop, Worker& source, bool reseed,
                                                     WorkerListener& listener) {
  CELLAR_ASSIGN_OR_RETURN(Birth birth, MakeBirth());
  CELLAR_ASSIGN_OR_RETURN(std::unique_ptr<Keeper> keeper, AddKeeper(loop, birth));
  std::vector<int> fds = birth.Fds(wire::CopyFdCount(wire::CopyKind::kBranched));
  CELLAR_ASSIGN_OR_RETURN(std::unique_ptr<Worker> worker,
                          MakeUnborn(loop, birth, std::move(keeper), listener));
  source.Copy({.kind = wire::CopyKind::kBranched, .reseed = reseed}, fds,
              source.keeper().KeepBranch(worker->WhenBorn()));
  return worker;
}

// A cell may have stopped it, also before it could speak; then it could not do what it is asked to.
void Snapshot::Continue() {
  if (pidfd_) SignalPidfd(pidfd_.get(), SIGCONT);
}

void Snapshot::Kill() {
  if (confirmed_ && pidfd_) SignalPidfd(pidfd_.get(), SIGKILL);
}

void Snapshot::Measure(const std::vector<int32_t>& pids, MeasureCallback done) {
  if (measured_) return;
  Continue();
  if (wire::SendFrame(channel_.socket(), wire::MessageFrame(wire::Measure{.pids = pids}), {})
          .ok()) {
    measured_ = std::move(done);
  }
}

absl::Status Snapshot::OnFrame(const wire::Frame& frame) {
  switch (static_cast<wire::MessageType>(frame.type)) {
    case wire::MessageType::kHello:
      confirmed_ = true;
      return absl::OkStatus();
    case wire::MessageType::kCopied:
      if (auto copied = wire::Decode<wire::Copied>(frame.payload)) {
        copier_.OnCopied(*std::move(copied));
        return absl::OkStatus();
      }
      break;
    case wire::MessageType::kMeasured:
      if (auto measured = wire::Decode<wire::Measured>(frame.payload)) {
        if (measured_) std::exchange(measured_, nullptr)(measured->processes);
        return absl::OkStatus();
      }
      break;
    default:
      break;
  }
  return absl::DataLossError("the channel carries a message that no snapshot sends");
}

void Snapshot::OnGone() {
  channel_.Stop();
  Kill();
  copier_.FailAll(absl::UnavailableError("the snapshot has died"));
  if (gone_) loop_.Post(std::exchange(gone_, nullptr));
}

}  // namespace cellar::host
