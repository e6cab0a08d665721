// Python cells with lasting state, for a C++ program. A Host starts worker processes and watches
// over them; a Session is a namespace in which cells run one after the other.
//
//   absl::StatusOr<std::unique_ptr<cellar::Host>> host = cellar::Host::Start();
//   absl::StatusOr<std::unique_ptr<cellar::Session>> session = (*host)->Open();
//   absl::StatusOr<cellar::CellOutcome> outcome = (*session)->Run("x = 20\nx + 1");
//   outcome->result();  // "21"
//
// A Status says that cells could not be run at all. What happened to a cell, an exception of its
// code or the death of its worker included, is in its CellOutcome.
//
// All calls may be made from any thread, and block. An observer is called by whichever
// thread runs the host at that moment, its own or one that waits in a call; from it, blocking calls
// return FailedPrecondition. Observers and other callbacks must not throw: that ends the program.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cellar/queries.h"
#include "host/bridge/provider.h"
#include "host/bridge/tool_set.h"
#include "host/runtime/environment.h"
#include "host/session/cell_observer.h"
#include "host/session/kept_snapshots.h"
#include "host/session/outcome.h"
#include "host/session/standing.h"
#include "nlohmann/json.hpp"

namespace cellar {

using host::BranchOptions;
using host::BridgeAnswer;
using host::BridgeBudget;
using host::BridgeCall;
using host::BridgeProvider;
using host::BridgeReply;
using host::BridgeTool;
using host::CellError;
using host::CellObserver;
using host::CellOutcome;
using host::CellOutput;
using host::CellStatus;
using host::EnvironmentOverrides;
using host::KeptSnapshot;
using host::SnapshotOptions;
using host::SnapshotPolicy;
using host::SnapshotStatus;
using host::Standing;
using host::StateAfter;
using host::Stream;
using host::ToolSet;
using host::WorkerExit;

class Engine;
class Opener;
class Session;

// What is empty comes from the settings (see host/runtime/settings.h), then from the environment.
struct HostOptions {
  std::string interpreter;           // executable or environment directory
  std::vector<std::string> preload;  // modules that every session has imported for nothing
  std::string worker_program;
  std::optional<absl::Duration> interrupt_grace;  // from an interrupt to the kill
  // For output that a result has no room for; by default one directory for each host under
  // XDG_STATE_HOME. It is made when needed, and stays.
  std::string artifacts_directory;
  // Answers the calls that cells make to this program (`tool`, `llm`, `agent`); outlives the host.
  BridgeProvider* bridge = nullptr;
  std::optional<absl::Duration> bridge_limit;  // for one answer; nothing = an hour
  // For a worker to answer Set() or Get(), which may be of large values; nothing = 30 s.
  std::optional<absl::Duration> value_limit;
};

struct SessionOptions {
  std::string id;                            // BridgeCall::session
  std::string cwd;                           // empty = where the program was when the host started
  std::vector<std::string> sys_path;         // in front of Python's own
  EnvironmentOverrides environment;          // nullopt removes a variable
  std::string interpreter;                   // empty = the host's
  std::vector<std::string> preload;          // empty = the host's
  std::optional<SnapshotOptions> snapshots;  // nothing = as the settings say
};

struct Branched;

struct RunOptions {
  absl::Duration timeout = absl::Seconds(30);  // of inactivity; zero or infinite = none
  CellObserver* observer = nullptr;            // sees the output while the cell runs
  // The id of a bridge call that this cell helps to answer: it runs at once, inside the wait of the
  // cell that made the call, or fails at once with FailedPrecondition.
  uint64_t parent = 0;
};

// Has one thread of its own, which no signal of the program is delivered to.
class Host {
 public:
  static absl::StatusOr<std::unique_ptr<Host>> Start(HostOptions options = {});
  // Closes what sessions are open; their handles stay valid and answer FailedPrecondition. Not from
  // an observer.
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // Returns while the worker starts; that it cannot start shows here or in the first call.
  absl::StatusOr<std::unique_ptr<Session>> Open(SessionOptions options = {});

  // Tells the cells of all sessions what the bridge offers now.
  void RenewOffer();

  // What was passed over when the interpreter was chosen, one sentence each.
  const std::vector<std::string>& warnings() const;

 private:
  Host(std::unique_ptr<const Opener> opener, std::shared_ptr<Engine> engine);

  std::unique_ptr<const Opener> opener_;
  std::shared_ptr<Engine> engine_;
};

// Requests of all threads are served in their order of arrival.
class Session {
 public:
  // As Close().
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // `code` is UTF-8.
  absl::StatusOr<CellOutcome> Run(std::string code, RunOptions options = {});

  // Interrupts the cell that runs now, if there is one; a second call before it has ended kills it:
  // the state is then that of the newest snapshot, or lost where there is none; the outcome says
  // which. Never blocks.
  void Interrupt();

  // Binds a name. NaN and infinities become None, since JSON has none of them.
  absl::Status Set(std::string name, const nlohmann::json& value);
  absl::Status SetBytes(std::string name, std::string bytes);

  // NotFound when the name is not bound, InvalidArgument when the value is not of that kind.
  // Integers of more than 64 bits arrive as doubles.
  absl::StatusOr<nlohmann::json> Get(std::string name);
  absl::StatusOr<std::string> GetBytes(std::string name);

  // About a text that a person types. `cursor` counts code points; nothing is its end. Answered
  // between cells and while a cell awaits; DeadlineExceeded otherwise: busy, after 300 ms while a
  // cell runs, 2 s while none does.
  absl::StatusOr<Completions> Complete(std::string text,
                                       std::optional<size_t> cursor = std::nullopt);
  absl::StatusOr<Inspection> Inspect(std::string text, std::optional<size_t> cursor = std::nullopt,
                                     bool with_source = false);
  absl::StatusOr<Completeness> IsComplete(std::string text);

  // Goes back to before a cell, with all its variables, tasks, imports, working directory and
  // random numbers; NotFound when no snapshot stands there. Without a cell, to the newest snapshot
  // older than the last cell's end. A running cell is ended first. What has left the process is not
  // undone: files, network, child processes.
  absl::StatusOr<Standing> Rewind(std::optional<uint32_t> before_cell = std::nullopt);
  // Another session that goes on from here, or from a snapshot, by itself.
  absl::StatusOr<Branched> Branch(BranchOptions options = {});
  // What can be gone back to.
  absl::StatusOr<SnapshotStatus> Snapshots();

  // Ends the worker and all it started, and waits until it is gone: exit handlers have a second, a
  // running cell has none. What other threads wait for returns Cancelled; later calls return
  // FailedPrecondition. From an observer it does not wait.
  void Close();

 private:
  friend class Host;
  Session(std::shared_ptr<Engine> engine, uint64_t id);

  // Shared with the host: either may be destroyed first.
  std::shared_ptr<Engine> engine_;
  uint64_t id_;
};

struct Branched {
  std::unique_ptr<Session> session;
  Standing standing;
};

}  // namespace cellar
