// A keeper as its host sees it: told what to signal, to end and to leave alone, it says what became
// of the worker. It serves one worker at a time; where there are snapshots it outlives that one and
// serves the next.
//
// Lives on the loop's thread. Destroying it makes the keeper end everything below it but the
// sessions that branched off, without waiting.
#pragma once

#include <map>
#include <memory>

#include "absl/functional/any_invocable.h"
#include "host/base/event_loop.h"
#include "host/base/lifeline.h"
#include "host/base/unique_fd.h"
#include "host/wire/control.h"
#include "host/wire/keeper_messages.h"
#include "host/worker/copier.h"

namespace cellar::host {

// Called on the loop's thread. A listener may destroy the keeper from any of these.
class KeeperListener {
 public:
  virtual ~KeeperListener() = default;
  // The worker lives.
  virtual void OnKeeperHello(int worker_pid, UniqueFd worker_pidfd) = 0;
  // There will be no worker.
  virtual void OnForkFailed(absl::Status why) = 0;
  virtual void OnWorkerExited(const wire::WorkerExited& exited) = 0;
  // It has ended, or says what no keeper says.
  virtual void OnKeeperGone() = 0;
};

class Keeper {
 public:
  Keeper(EventLoop& loop, UniqueFd socket) : loop_(loop), socket_(std::move(socket)) {}
  ~Keeper();
  Keeper(const Keeper&) = delete;

  // Begins to serve a worker, which the listener stands for, until Release().
  absl::Status Serve(KeeperListener& listener);
  // That worker has ended, or is given up.
  void Release();

  // What it is told also lets it go on: a cell, or a person, may have stopped it.
  void Signal(int signal, bool group);
  // Ends the worker and all it has started, also one whose pid is not known yet.
  void Kill();
  void KeepSnapshot(int pid);
  // That copy of a snapshot is the worker.
  void Promote(int pid);
  // For a branch of this session: once it is born, the keeper is told to leave it alone. `born` is
  // called when the keeper has said that it does.
  Copier::Callback KeepBranch(Copier::Callback born);
  void Continue();

  // Once, as soon as all that former workers left is gone: until then it would end a new one too.
  void WhenClear(absl::AnyInvocable<void()> clear);

 private:
  enum class State {
    kClear,     // nothing is left of former workers, nor to be said of them
    kServing,   // a worker lives below it
    kClearing,  // what comes before `Cleared` is about a former worker
  };
  // A branch that it has been told to leave alone, until it says that it does.
  struct Branching {
    wire::Copied copied;
    Copier::Callback born;
  };

  void OnSocket();
  void OnHello(wire::ControlMessage& message);
  void OnCleared();
  void OnBranchKept(const wire::BranchKept& kept);
  void Lose();
  template <typename Message>
  void Tell(const Message& message);

  EventLoop& loop_;
  UniqueFd socket_;
  UniqueFd pidfd_;
  KeeperListener* listener_ = nullptr;
  State state_ = State::kClear;
  int worker_pid_ = 0;           // 0: not known yet
  bool killed_unknown_ = false;  // told to kill when the worker was not known; `Cleared` answers it
  absl::AnyInvocable<void()> clear_;
  std::map<int, Branching> branchings_;  // by the pid of the branch's keeper
  Lifeline lifeline_;
};

}  // namespace cellar::host
