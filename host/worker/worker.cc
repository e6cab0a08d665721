#include "host/worker/worker.h"

#include <sched.h>
#include <sys/epoll.h>

#include <csignal>
#include <utility>

#include "host/base/process.h"
#include "host/wire/bridge_messages.h"
#include "host/wire/control.h"

namespace cellar::host {
namespace {

// Between a worker's death, or the order to end it, and the keeper's word on how it died, on a
// machine that may be busy.
constexpr absl::Duration kExitReport = absl::Seconds(2);
// Between the end of its channel and its own end.
constexpr absl::Duration kEndOfWorker = absl::Milliseconds(200);
// Between the end of its keeper and its own, by whoever is above.
constexpr absl::Duration kEndWithKeeper = absl::Milliseconds(500);
constexpr char kClosed[] = "its channel to the host was closed";

}  // namespace

absl::StatusOr<std::unique_ptr<Worker>> Worker::Create(
    EventLoop& loop, WorkerEnds ends, wire::RingMemory ring, std::unique_ptr<Keeper> keeper,
    std::function<absl::Status()> why_not_started, WorkerListener& listener) {
  std::unique_ptr<Worker> worker(new Worker(loop, std::move(ends), std::move(ring),
                                            std::move(keeper), std::move(why_not_started),
                                            listener));
  CELLAR_RETURN_IF_ERROR(worker->WatchAll());
  return worker;
}

Worker::Worker(EventLoop& loop, WorkerEnds ends, wire::RingMemory ring,
               std::unique_ptr<Keeper> keeper, std::function<absl::Status()> why_not_started,
               WorkerListener& listener)
    : loop_(loop),
      keeper_(std::move(keeper)),
      why_not_started_(std::move(why_not_started)),
      listener_(listener),
      channel_(loop, std::move(ends.channel), *this),
      timeline_(std::move(ring), std::move(ends.out), std::move(ends.err),
                [this](uint32_t cell, wire::StreamId stream, std::string_view text) {
                  listener_.OnText(cell, stream, text);
                }),
      output_(
          loop, timeline_, std::move(ends.doorbell), [this] { DeliverArrived(); },
          [this](const absl::Status& why) { Abandon(why); }),
      faults_(std::move(ends.faults)) {}

Worker::~Worker() {
  lifeline_.Cut();
  loop_.Cancel(birth_timer_);
  loop_.Cancel(exit_timer_);
  loop_.Cancel(closed_timer_);
  if (pidfd_) loop_.Unwatch(pidfd_.get());
}

absl::Status Worker::WatchAll() {
  CELLAR_RETURN_IF_ERROR(channel_.Watch());
  CELLAR_RETURN_IF_ERROR(output_.Start());
  return keeper_->Serve(*this);
}

void Worker::ExpectWithin(absl::Duration time) {
  const int here = sched_getcpu();
  timeline_.shared().host_processor.store(here);
  if (timeline_.shared().worker_processor.load() != here) loop_.ExpectWithin(time);
}

void Worker::Interrupt(uint32_t cell) {
  timeline_.shared().interrupt_target.store(cell);
  SignalWorker(SIGCONT, false);  // a stopped worker could not answer
  SignalWorker(SIGINT, true);
}

void Worker::RepeatInterrupt(uint32_t cell) {
  if (timeline_.shared().interrupt_target.load() == cell) SignalWorker(SIGINT, false);
}

void Worker::Insist(uint32_t cell) {
  timeline_.shared().interrupt_target.store(cell);
  SignalWorker(SIGCONT, false);
  SignalWorker(wire::InsistSignal(), false);
}

void Worker::MakeWay(uint32_t cell) {
  timeline_.shared().way_target.store(cell);
  SignalWorker(SIGCONT, false);
  SignalWorker(wire::InsistSignal(), false);
}

void Worker::Continue() { SignalWorker(SIGCONT, false); }

void Worker::DumpStacks() {
  faults_.OnDump();
  SignalWorker(wire::DumpSignal(), false);
}

void Worker::LimitBirth(absl::Duration limit) {
  birth_timer_ = loop_.After(limit, [this, limit] {
    if (exit_.reason.empty()) {
      exit_.reason = "did not start within " + absl::FormatDuration(limit);
    }
    Kill();
  });
}

void Worker::Kill() {
  if (finished_) return;
  keeper_->Kill();
  // Not left to the keeper alone: it may be stopped again.
  if (pidfd_) SignalPidfd(pidfd_.get(), SIGKILL);
  if (exit_timer_ != 0) return;
  // It may be beyond any signal: inside the kernel, or held by a debugger. Whoever was to fork it
  // may be stopped too; when that one goes on, it finds that the host has left.
  const bool is_born = pid_ > 0;
  exit_timer_ = loop_.After(is_born ? kExitReport : kEndOfWorker, [this, is_born] {
    if (exit_.reason.empty()) {
      exit_.reason =
          is_born ? "was killed, and has not ended yet" : "was ended before it had started";
    }
    Finish();
  });
}

void Worker::GiveUp() {
  if (finished_) return;
  exit_.reason = "could not be copied: it was not done in time";
  Kill();
  Finish();
}

void Worker::Copy(wire::Copy copy, const std::vector<int>& fds, Copier::Callback done) {
  if (finished_ || !channel_.is_flushed()) {
    return done(absl::UnavailableError("the worker is busy or gone"));
  }
  copier_.Ask(channel_.socket(), copy, fds, std::move(done));
}

void Worker::EndForkHooks() {
  timeline_.shared().copy_target.store(said_hello_ ? copier_.last_request() : wire::kWakingCopy);
  SignalWorker(SIGCONT, false);
  SignalWorker(wire::InsistSignal(), false);
}

Copier::Callback Worker::WhenBorn() {
  born_ = false;
  return [this, alive = lifeline_.watch()](absl::StatusOr<wire::Copied> copied) {
    if (*alive) OnBorn(std::move(copied));
  };
}

void Worker::OnBorn(absl::StatusOr<wire::Copied> copied) {
  if (finished_) return;
  if (!copied.ok()) {
    exit_.reason = "could not be copied: " + std::string(copied.status().message());
    // Later, since this may be a call from inside whoever wants the worker.
    return loop_.Post([this, alive = lifeline_.watch()] {
      if (*alive) Finish();
    });
  }
  if (copied->keeper_pid > 0) {  // a branch's own, which says hello by itself
    born_ = true;
    return BeReady();
  }
  // The keeper's answers to both could not be told apart, and the second be taken for another
  // copy's.
  if (exit_timer_ != 0) return;
  promoted_ = true;
  keeper_->Promote(copied->pid);
}

void Worker::SignalWorker(int signal, bool group) {
  if (!finished_) keeper_->Signal(signal, group);
}

absl::Status Worker::OnFrame(const wire::Frame& frame) {
  wire::TraceFrame(wire::FrameDirection::kFromWorker, pid_,
                   static_cast<wire::MessageType>(frame.type), frame.payload);
  switch (static_cast<wire::MessageType>(frame.type)) {
    case wire::MessageType::kHello: {
      auto hello = wire::Decode<wire::Hello>(frame.payload);
      if (!hello) break;
      loop_.Cancel(birth_timer_);
      if (!hello->error.empty()) {
        exit_.reason = hello->error;
        Kill();
        return absl::OkStatus();
      }
      not_carried_ = std::move(hello->not_carried);
      said_hello_ = true;
      BeReady();
      return absl::OkStatus();
    }
    case wire::MessageType::kCopied: {
      auto copied = wire::Decode<wire::Copied>(frame.payload);
      if (!copied) break;
      // Told to the keeper before any further cell is told to the worker: it may die of that one.
      if (copied->error.empty() && copied->keeper_pid <= 0) keeper_->KeepSnapshot(copied->pid);
      copier_.OnCopied(*std::move(copied));
      return absl::OkStatus();
    }
    case wire::MessageType::kDisplay:
      return Deliver(frame.payload, &WorkerListener::OnDisplay);
    case wire::MessageType::kError:
      return Deliver(frame.payload, &WorkerListener::OnError);
    case wire::MessageType::kNotice:
      return Deliver(frame.payload, &WorkerListener::OnNotice);
    case wire::MessageType::kValue:
      return Deliver(frame.payload, &WorkerListener::OnValue);
    case wire::MessageType::kQueryAnswer:
      return Deliver(frame.payload, &WorkerListener::OnQueryAnswer);
    case wire::MessageType::kRingFull:
      output_.Expect();
      return absl::OkStatus();
    case wire::MessageType::kDone:
      return Deliver(frame.payload, &WorkerListener::OnDone);
    case wire::MessageType::kOpenLine:
      return DeliverLine(frame.payload);
    default:
      break;
  }
  return absl::DataLossError("the channel carries a message that no worker sends");
}

// One that was forked from a snapshot can be signalled only once its keeper knows it. A branch is
// not safe before the keeper of its origin has been told to leave it alone: that one may be about
// to end all that its worker has left.
void Worker::BeReady() {
  if (said_hello_ && born_) listener_.OnWorkerReady();
}

template <typename Message>
absl::Status Worker::Deliver(std::string_view payload, void (WorkerListener::*receive)(Message)) {
  std::optional<Message> message = wire::Decode<Message>(payload);
  if (!message) return absl::DataLossError("the channel carries a damaged message");
  if constexpr (requires { message->position; }) {
    CELLAR_RETURN_IF_ERROR(timeline_.DrainTo(message->position));
  }
  (listener_.*receive)(*std::move(message));
  return absl::OkStatus();
}

absl::Status Worker::DeliverLine(std::string_view payload) {
  std::optional<wire::OpenLine> open = wire::Decode<wire::OpenLine>(payload);
  std::optional<UniqueFd> socket = channel_.TakeFd();
  if (!open || !socket) return absl::DataLossError("the channel carries a damaged message");
  // Without it, the thread sees the end of its line.
  if (*socket) listener_.OnOpenLine(*std::move(socket), open->of_main_thread);
  return absl::OkStatus();
}

void Worker::OnKeeperHello(int worker_pid, UniqueFd worker_pidfd) {
  pid_ = worker_pid;
  pidfd_ = std::move(worker_pidfd);
  why_not_started_ = nullptr;
  if (absl::Status watched = loop_.Watch(pidfd_.get(), EPOLLIN, [this](uint32_t) { OnPidfd(); });
      !watched.ok()) {
    SetReason(watched);
    return Abandon(watched);
  }
  if (exit_timer_ != 0) {  // it was to end before it was known
    loop_.Cancel(std::exchange(exit_timer_, 0));
    Kill();
  }
  if (!promoted_) return;
  born_ = true;
  BeReady();
}

void Worker::OnForkFailed(absl::Status why) {
  SetReason(why);
  Finish();
}

void Worker::OnWorkerExited(const wire::WorkerExited& exited) {
  exit_known_ = true;
  (exited.signaled ? exit_.signal : exit_.exit_code) = exited.code;
  if (exit_.exit_code == wire::kExitChannelLost) exit_.reason = kClosed;
  Finish();
}

void Worker::OnPidfd() {
  loop_.Unwatch(pidfd_.get());
  has_ended_ = true;
  if (exit_known_ || finished_) return;
  if (keeper_is_gone_) return Finish();
  keeper_->Continue();
  loop_.Cancel(exit_timer_);
  exit_timer_ = loop_.After(kExitReport, [this] {
    SetReasonOfKeeper();
    Finish();
  });
}

// Without its keeper a worker cannot be looked after. Whoever was above the keeper ends all of its
// session, and knows what the worker has started by its being below the worker: so that one stands
// still until then, and is killed here only if nobody does it.
void Worker::OnKeeperGone() {
  keeper_is_gone_ = true;
  SetReasonOfKeeper();
  if (!pidfd_ || has_ended_) return Finish();
  SignalPidfd(pidfd_.get(), SIGSTOP);
  loop_.Cancel(exit_timer_);
  exit_timer_ = loop_.After(kEndWithKeeper, [this] {
    SignalPidfd(pidfd_.get(), SIGKILL);
    Finish();
  });
}

void Worker::SetReasonOfKeeper() {
  if (exit_known_) return;
  if (!exit_.reason.empty()) {
    exit_.reason = "ended: " + exit_.reason;
  } else {
    SetReason(why_not_started_ ? why_not_started_()
                               : absl::UnavailableError("ended because its keeper was killed"));
  }
}

void Worker::OnChannelEnd() {
  // The end itself is told by the keeper; a worker that only closed its channel, or became another
  // program, will not come back.
  closed_timer_ = loop_.After(kEndOfWorker, [this] {
    if (exit_timer_ == 0) Abandon(absl::DataLossError(kClosed));
  });
}

void Worker::OnGarbage(const absl::Status& why) { Abandon(why); }

void Worker::Abandon(const absl::Status& why) {
  if (exit_.reason.empty()) exit_.reason = std::string(why.message());
  channel_.Stop();
  Kill();
}

void Worker::SetReason(const absl::Status& why) {
  exit_.reason = std::string(why.message());
  exit_.exhausted = absl::IsResourceExhausted(why);
}

void Worker::Finish() {
  if (finished_) return;
  // What the worker said before it ended comes first: frames, then what it printed after them.
  while (exit_.reason.empty() && channel_.ReadLeft()) {
  }
  (void)timeline_.Drain([] {});
  finished_ = true;
  loop_.Cancel(birth_timer_);
  loop_.Cancel(exit_timer_);
  loop_.Cancel(closed_timer_);
  output_.Stop();
  channel_.Stop();
  keeper_->Release();
  if (pidfd_) loop_.Unwatch(pidfd_.get());
  exit_.python_stack = CleanPythonStack(faults_.Read());
  copier_.FailAll(absl::UnavailableError("the worker " + exit_.Describe()));
  listener_.OnWorkerExit(std::move(exit_));
}

}  // namespace cellar::host
