// A worker as its host sees it: one child with its channel, ring and pipes, below a keeper.
// Passive: it does what it is told, and tells its listener what happened. It knows nothing of
// queues, time-outs or what a death means for a session.
//
// Lives on the loop's thread. Destroying it ends the worker and everything below its keeper,
// without waiting.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "host/base/event_loop.h"
#include "host/base/lifeline.h"
#include "host/base/unique_fd.h"
#include "host/wire/channel_messages.h"
#include "host/wire/copy_messages.h"
#include "host/wire/frame_trace.h"
#include "host/worker/birth.h"
#include "host/worker/channel.h"
#include "host/worker/copier.h"
#include "host/worker/fault_file.h"
#include "host/worker/keeper.h"
#include "host/worker/output_watch.h"
#include "host/worker/timeline.h"
#include "host/worker/worker_exit.h"

namespace cellar::host {

// Called on the loop's thread. A listener may destroy the worker only from OnWorkerExit.
class WorkerListener {
 public:
  virtual ~WorkerListener() = default;
  // Setup is done; cells sent before this wait in the channel.
  virtual void OnWorkerReady() = 0;
  // `cell` is 0 when the writer is not known.
  virtual void OnText(uint32_t cell, wire::StreamId stream, std::string_view text) = 0;
  virtual void OnDisplay(wire::Display display) = 0;
  virtual void OnError(wire::Error error) = 0;
  virtual void OnNotice(wire::Notice notice) = 0;
  virtual void OnDone(wire::Done done) = 0;
  virtual void OnValue(wire::Value value) = 0;
  virtual void OnQueryAnswer(wire::QueryAnswer answer) = 0;
  // A thread of the worker wants to make bridge calls.
  virtual void OnOpenLine(UniqueFd socket, bool of_main_thread) = 0;
  // Once, and the last call.
  virtual void OnWorkerExit(WorkerExit exit) = 0;
};

class Worker : private ChannelListener, private KeeperListener {
 public:
  // `why_not_started` is asked when the worker ends before its keeper said hello.
  static absl::StatusOr<std::unique_ptr<Worker>> Create(
      EventLoop& loop, WorkerEnds ends, wire::RingMemory ring, std::unique_ptr<Keeper> keeper,
      std::function<absl::Status()> why_not_started, WorkerListener& listener);
  ~Worker() override;

  // Any message of the channel that carries no descriptors. Sent when the channel has room; never
  // blocks.
  template <typename Message>
  void Send(const Message& message) {
    if constexpr (std::is_same_v<Message, wire::Execute>) faults_.SkipOld();
    std::string payload = wire::Encode(message);
    wire::TraceFrame(wire::FrameDirection::kToWorker, pid_, Message::kType, payload);
    if (finished_) return;
    channel_.Send(wire::EncodeFrame(static_cast<uint16_t>(Message::kType), payload));
  }

  // Names the cell, then SIGINT to the worker's process group. Hits that cell or nothing.
  void Interrupt(uint32_t cell);
  // Signals again unless the worker has acted: Python misses a signal that comes just before a
  // blocking call.
  void RepeatInterrupt(uint32_t cell);
  // As Interrupt, through a signal that a cell cannot have replaced by accident.
  void Insist(uint32_t cell);
  // Ends what an earlier cell has left, if that keeps the worker from beginning this one.
  void MakeWay(uint32_t cell);
  // Lets it go on if it was stopped.
  void Continue();
  // Makes the worker write its Python stacks, to be part of WorkerExit.
  void DumpStacks();
  // While paused, prints fill the ring and then wait: for a sink that cannot keep up. Frames still
  // come.
  void PauseOutput(bool paused) { output_.Pause(paused); }
  // Delivers the frames that have arrived and not been read. Not from a listener's call.
  void DeliverArrived() { channel_.ReadArrived(); }
  // The same, and what has been printed.
  void DeliverOutput() { output_.Look(); }
  // It ends if it has not said by then that it is ready.
  void LimitBirth(absl::Duration limit);
  // Ends the worker and everything it started.
  void Kill();
  // For a copy that does not begin to run: whoever was to make it may be stopped, so that there is
  // nothing to kill yet, and nobody to tell of its end. Not from a listener's call.
  void GiveUp();

  // Has the worker fork a copy of itself, which it does between cells. See wire::Copy.
  void Copy(wire::Copy copy, const std::vector<int>& fds, Copier::Callback done);
  // Ends what a cell has registered to run at a fork, if that is what holds up the copy that this
  // worker was asked for last, or that it is itself.
  void EndForkHooks();
  // For a worker that another process is to fork: its answer goes here, also when this object is
  // gone by then.
  Copier::Callback WhenBorn();
  // Until OnWorkerExit.
  Keeper& keeper() { return *keeper_; }
  // After OnWorkerExit, for the next worker. Snapshots live as long as it does.
  std::unique_ptr<Keeper> TakeKeeper() { return std::move(keeper_); }

  int pid() const { return pid_; }
  // What this worker, as a copy of another, could not take over.
  const std::vector<std::string>& not_carried() const { return not_carried_; }
  // It will most likely answer within that time: the loop looks before it sleeps.
  void ExpectWithin(absl::Duration time);
  // Whether it says that this is the last cell it began; also after its end.
  bool HasBegun(uint32_t cell) { return timeline_.shared().begun_cell.load() == cell; }
  // Whether it says that it has begun that cell; it may have begun nested ones since.
  bool HasReached(uint32_t cell) { return timeline_.shared().begun_cell.load() >= cell; }
  // Whether it says that it ended before any code of that cell, because none would come to its own:
  // earlier ones have broken its Python.
  bool BrokeBefore(uint32_t cell) { return timeline_.shared().broken_before.load() == cell; }

 private:
  Worker(EventLoop& loop, WorkerEnds ends, wire::RingMemory ring, std::unique_ptr<Keeper> keeper,
         std::function<absl::Status()> why_not_started, WorkerListener& listener);

  absl::Status WatchAll();
  void SignalWorker(int signal, bool group);

  // ChannelListener.
  absl::Status OnFrame(const wire::Frame& frame) override;
  void OnChannelEnd() override;
  void OnGarbage(const absl::Status& why) override;

  // KeeperListener.
  void OnKeeperHello(int worker_pid, UniqueFd worker_pidfd) override;
  void OnForkFailed(absl::Status why) override;
  void OnWorkerExited(const wire::WorkerExited& exited) override;
  void OnKeeperGone() override;

  void OnBorn(absl::StatusOr<wire::Copied> copied);
  void BeReady();
  void OnPidfd();
  void SetReasonOfKeeper();

  template <typename Message>
  absl::Status Deliver(std::string_view payload, void (WorkerListener::*receive)(Message));
  absl::Status DeliverLine(std::string_view payload);

  // Something arrived that no worker sends: the cell wrote to the channel or the ring.
  void Abandon(const absl::Status& why);
  void SetReason(const absl::Status& why);
  void Finish();

  EventLoop& loop_;
  std::unique_ptr<Keeper> keeper_;
  std::function<absl::Status()> why_not_started_;
  WorkerListener& listener_;
  Channel channel_;
  Timeline timeline_;
  OutputWatch output_;
  FaultFile faults_;

  Copier copier_;
  std::vector<std::string> not_carried_;
  bool born_ = true;       // nothing is to be heard from whoever made it
  bool promoted_ = false;  // the keeper has been told that this is its worker
  bool said_hello_ = false;
  Lifeline lifeline_;

  int pid_ = -1;
  UniqueFd pidfd_;
  EventLoop::TimerId birth_timer_ = 0;
  EventLoop::TimerId exit_timer_ = 0;
  EventLoop::TimerId closed_timer_ = 0;
  bool has_ended_ = false;   // as its pidfd says
  bool exit_known_ = false;  // as its keeper says
  bool keeper_is_gone_ = false;
  bool finished_ = false;
  WorkerExit exit_;
};

}  // namespace cellar::host
