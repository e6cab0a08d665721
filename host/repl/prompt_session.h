// What a prompt works on: a session, and those it can go to. Either sessions of this process or
// sessions of the daemon, which others use at the same time.
//
// Lives on the loop's thread; nothing blocks, and callbacks come now or later, once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "host/eval/call_observer.h"
#include "host/eval/session_watcher.h"
#include "host/session/session.h"

namespace cellar::host {

// Hears of the prompt's own cells as an observer of their calls, and of what others do.
class PromptSessionListener : public CallObserver {
 public:
  // Who sees a cell of another.
  virtual CallObserver& Others(const WatchedCall& call) = 0;
  // Another has done something to the session.
  virtual void OnChange(SessionChange change) = 0;
  // next_cell() or running_by() is another.
  virtual void OnMoved() = 0;
  // The daemon has to be started first, and that takes a while.
  virtual void OnWaitsForDaemon() = 0;
  // The daemon has ended, and the sessions with it.
  virtual void OnLost() = 0;
};

class PromptSession {
 public:
  using StatusCallback = absl::AnyInvocable<void(absl::Status)>;
  using StandingCallback = absl::AnyInvocable<void(absl::StatusOr<Standing>)>;
  struct Listed {
    std::string name;
    uint64_t cells_run = 0;
    bool busy = false;
    std::vector<uint32_t> snapshots;  // the cells that they stand before, oldest first
  };
  using ListCallback = absl::AnyInvocable<void(absl::StatusOr<std::vector<Listed>>)>;

  virtual ~PromptSession() = default;

  // `ready` is called when the prompt can be shown. The listener outlives this.
  virtual void Start(PromptSessionListener& listener, StatusCallback ready) = 0;
  // Ends the session if it is the prompt's own; else only leaves it.
  virtual void Leave(absl::AnyInvocable<void()> done) = 0;

  // Of the session that cells run in.
  virtual std::string name() const = 0;
  // The name under which what is typed is remembered; or empty, which is one too.
  virtual std::string history() const = 0;
  // Whether it is the one that a prompt without a name has.
  virtual bool is_nameless() const = 0;
  virtual uint32_t next_cell() const = 0;

  // Runs a cell; the listener is told of it. `done`: a Status that is not ok says that it was not
  // run, or that nobody knows what became of it.
  virtual void Run(std::string code, StatusCallback done) = 0;
  // Whether a cell that Run was given is not done yet, or something else waits for the daemon.
  virtual bool busy() const = 0;
  virtual void Interrupt() = 0;
  // Whose cell runs, if it is another's; or empty.
  virtual std::string running_by() const = 0;
  virtual void InterruptOther() = 0;
  // How many of the cells from `cell` on, as far as they have ended, this prompt has not run.
  virtual size_t others_since(uint32_t cell) const = 0;

  // `cursor` counts characters. The answer is what ParseCompletions reads.
  virtual void Complete(std::string text, uint32_t cursor, QueryCallback done) = 0;
  virtual void Reset(StatusCallback done) = 0;
  virtual void Rewind(uint32_t cell, StandingCallback done) = 0;
  virtual void Branch(const std::string& name, StandingCallback done) = 0;
  virtual void Switch(const std::string& name, StatusCallback done) = 0;
  virtual void List(ListCallback done) = 0;
};

}  // namespace cellar::host
