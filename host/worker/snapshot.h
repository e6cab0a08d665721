// A snapshot as its host sees it: a sleeping copy of a worker, from which any number of workers can
// be forked that go on where the copy was made. It sleeps on, whatever becomes of them.
//
// Lives on the loop's thread. Destroying it kills the copy.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "host/base/event_loop.h"
#include "host/base/lifeline.h"
#include "host/base/unique_fd.h"
#include "host/worker/channel.h"
#include "host/worker/copier.h"
#include "host/worker/worker.h"

namespace cellar::host {

class Snapshot : private ChannelListener {
 public:
  using TakeCallback = absl::AnyInvocable<void(absl::StatusOr<std::unique_ptr<Snapshot>>)>;
  using MeasureCallback = absl::AnyInvocable<void(const std::vector<wire::Memory>&)>;

  // Takes one of a worker that runs no cell. `cautious`: not if it has threads that may not survive
  // a fork.
  // The callback comes while the copy may still be putting itself to sleep.
  static void Take(EventLoop& loop, Worker& worker, bool cautious, TakeCallback done);
  ~Snapshot() override;
  Snapshot(const Snapshot&) = delete;

  // The next worker of the session, under the keeper of `former`, which must have ended. When it
  // cannot be forked, that shows as its exit.
  absl::StatusOr<std::unique_ptr<Worker>> Restore(Worker& former, WorkerListener& listener);
  // The first worker of another session. `present` is the worker of this one.
  absl::StatusOr<std::unique_ptr<Worker>> Branch(Worker& present, bool reseed,
                                                 WorkerListener& listener);

  // How much memory those processes hold; answered by the copy itself, since it takes milliseconds.
  void Measure(const std::vector<int32_t>& pids, MeasureCallback done);
  // Called once, from a posted task, when the copy has died.
  void WhenGone(absl::AnyInvocable<void()> gone) { gone_ = std::move(gone); }

  int pid() const { return pid_; }
  // How long the worker stood still for it.
  absl::Duration cost() const { return cost_; }

 private:
  Snapshot(EventLoop& loop, UniqueFd channel, const wire::Copied& copied);

  absl::Status OnFrame(const wire::Frame& frame) override;
  void OnChannelEnd() override { OnGone(); }
  void OnGarbage(const absl::Status&) override { OnGone(); }

  void Continue();
  void Kill();
  void OnGone();

  EventLoop& loop_;
  Channel channel_;
  int pid_;
  UniqueFd pidfd_;
  bool confirmed_ = false;  // it has spoken since pidfd_ was opened, so that is the right process
  absl::Duration cost_;
  Copier copier_;
  MeasureCallback measured_;
  absl::AnyInvocable<void()> gone_;
  Lifeline lifeline_;
};

// The first worker of another session, out of the present state of `source`, which runs no cell.
absl::StatusOr<std::unique_ptr<Worker>> BranchWorker(EventLoop& loop, Worker& source, bool reseed,
                                                     WorkerListener& listener);

}  // namespace cellar::host
