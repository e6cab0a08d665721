// Every message between host, template, keeper and worker. Four conversations, described in
// PROTOCOL.md:
//   host <-> worker    frames on the channel, a stream socket
//   host <-> worker    frames on lines, stream sockets that the worker opens for bridge calls
//   host <-> template  control messages on a seqpacket socket
//   host <-> keeper    control messages on a seqpacket socket of its own
#pragma once

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/wire/codec.h"
#include "host/wire/frame.h"
#include "host/wire/ring.h"

namespace cellar::wire {

// Types are never given to another meaning; a new meaning is a new number.
enum class MessageType : uint16_t {
  // host -> worker
  kSetup = 1,
  kExecute = 2,
  kSet = 3,
  kGet = 4,
  kExit = 5,
  kEnter = 12,
  kQuery = 13,
  kCopy = 16,
  kMeasure = 17,
  // worker -> host
  kHello = 32,
  kDisplay = 33,
  kError = 34,
  kDone = 35,
  kNotice = 36,
  kValue = 37,
  kQueryAnswer = 38,
  kCopied = 48,
  kMeasured = 49,
  // host -> template
  kStart = 64,
  kFork = 65,
  // template -> host
  kReady = 80,
  kFailed = 81,
  kForkFailed = 82,
  // host -> keeper
  kSignal = 96,
  kKill = 97,
  kKeep = 98,
  kPromote = 99,
  kSpare = 100,
  // keeper -> host
  kKeeperHello = 112,
  kWorkerExited = 113,
  kCleared = 114,
  // host -> worker, on the channel and on lines
  kBridgeOffer = 128,
  // worker -> host
  kOpenLine = 129,
  // worker -> host, on a line
  kBridgeCall = 130,
  kBridgeWithdraw = 131,
  // host -> worker, on a line
  kBridgeAnswer = 132,
  kBridgeNested = 133,
};

// The fields of a message in their order on the wire, for both directions.
#define CELLAR_WIRE_FIELDS(...)                                       \
  template <typename Self, typename Archive>                          \
  static void Fields([[maybe_unused]] Self& self, Archive& archive) { \
    archive(__VA_ARGS__);                                             \
  }

// --- host -> worker
// -------------------------------------------------------------------------------------------------

struct EnvironmentEntry {
  std::string name;
  std::optional<std::string> value;  // nothing removes the variable
  CELLAR_WIRE_FIELDS(self.name, self.value)
};

// First frame on a new channel: what makes a forked worker the worker of one session.
struct Setup {
  static constexpr MessageType kType = MessageType::kSetup;
  std::string cwd;
  std::vector<EnvironmentEntry> environment;
  std::vector<std::string> sys_path;  // put in front, after the cwd
  uint64_t memory_cap = 0;            // bytes, RLIMIT_DATA; 0 = none
  uint64_t open_files = 0;            // soft RLIMIT_NOFILE; 0 = as it is
  CELLAR_WIRE_FIELDS(self.cwd, self.environment, self.sys_path, self.memory_cap, self.open_files)
};

// Where the next cells run and with which variables; what it does not name stays. A directory that
// cannot be entered is the next cell's error.
struct Enter {
  static constexpr MessageType kType = MessageType::kEnter;
  std::string cwd;  // empty: stay
  std::vector<EnvironmentEntry> environment;
  CELLAR_WIRE_FIELDS(self.cwd, self.environment)
};

struct Execute {
  static constexpr MessageType kType = MessageType::kExecute;
  uint32_t cell = 0;  // from 1; unique within a worker
  std::string code;   // UTF-8
  CELLAR_WIRE_FIELDS(self.cell, self.code)
};

enum class ValueKind : uint8_t { kJson = 0, kBytes = 1, kAbsent = 2, kFailed = 3 };

// Binds a name in the session's namespace. Answered by Value (kAbsent: done; kFailed: the reason).
struct Set {
  static constexpr MessageType kType = MessageType::kSet;
  uint32_t request = 0;
  std::string name;
  ValueKind kind = ValueKind::kJson;
  std::string data;
  CELLAR_WIRE_FIELDS(self.request, self.name, self.kind, self.data)
};

struct Get {
  static constexpr MessageType kType = MessageType::kGet;
  uint32_t request = 0;
  std::string name;
  CELLAR_WIRE_FIELDS(self.request, self.name)
};

enum class QueryKind : uint8_t { kComplete = 0, kInspect = 1, kIsComplete = 2 };

// A question about a text, answered by QueryAnswer between cells or while a cell awaits.
struct Query {
  static constexpr MessageType kType = MessageType::kQuery;
  uint32_t request = 0;
  QueryKind kind = QueryKind::kComplete;
  std::string text;          // UTF-8
  uint32_t cursor = 0;       // in code points; past the end = the end
  bool with_source = false;  // of kInspect
  CELLAR_WIRE_FIELDS(self.request, self.kind, self.text, self.cursor, self.with_source)
};

// Run exit handlers, flush, end.
struct Exit {
  static constexpr MessageType kType = MessageType::kExit;
  CELLAR_WIRE_FIELDS()
};

// What a copy of a worker is to be.
enum class CopyKind : uint8_t {
  kAsleep = 0,    // a snapshot
  kRestored = 1,  // the next worker of the same session
  kBranched = 2,  // the first worker of another session, with a keeper of its own
};

// Fork a copy of yourself; a worker does it between cells, a snapshot at any time. Carries the
// descriptors that the copy gets, in the order of BirthFd: the channel alone, all but the last two,
// or all of them. Answered by Copied.
struct Copy {
  static constexpr MessageType kType = MessageType::kCopy;
  uint32_t request = 0;
  CopyKind kind = CopyKind::kAsleep;
  bool reseed = false;    // the copy's random numbers are to be others
  bool cautious = false;  // not if there are threads that may not survive a fork
  CELLAR_WIRE_FIELDS(self.request, self.kind, self.reseed, self.cautious)
};

// Says how much memory those processes hold. Only to a snapshot, which has nothing else to do.
struct Measure {
  static constexpr MessageType kType = MessageType::kMeasure;
  std::vector<int32_t> pids;
  CELLAR_WIRE_FIELDS(self.pids)
};

// --- worker -> host
// -------------------------------------------------------------------------------------------------

// The setup is done and cells can run, or `error` says why not. A copy says it too: it is asleep,
// or awake.
struct Hello {
  static constexpr MessageType kType = MessageType::kHello;
  uint32_t version = kProtocolVersion;
  std::string error;
  std::vector<std::string> not_carried;  // what this copy could not take over, one each
  CELLAR_WIRE_FIELDS(self.version, self.error, self.not_carried)
};

enum class DisplayKind : uint8_t {
  kDisplay = 0,
  kUpdate = 1,
  kResult = 2,
  kClear = 3,
  kStatus = 4
};
enum class MimeKind : uint8_t { kText = 0, kBytes = 1, kJson = 2 };

struct MimeEntry {
  std::string mime;
  MimeKind kind = MimeKind::kText;
  std::string data;
  CELLAR_WIRE_FIELDS(self.mime, self.kind, self.data)
};

struct Display {
  static constexpr MessageType kType = MessageType::kDisplay;
  uint32_t cell = 0;
  Position position;  // what was written before it
  DisplayKind kind = DisplayKind::kDisplay;
  std::vector<MimeEntry> data;
  std::string metadata;  // JSON object, or empty
  std::string display_id;
  CELLAR_WIRE_FIELDS(self.cell, self.position.ring, self.position.out, self.position.err, self.kind,
                     self.data, self.metadata, self.display_id)
};

struct Error {
  static constexpr MessageType kType = MessageType::kError;
  uint32_t cell = 0;
  Position position;
  std::string ename;
  std::string evalue;
  std::string traceback;
  std::optional<int32_t> exit_code;  // of a SystemExit
  CELLAR_WIRE_FIELDS(self.cell, self.position.ring, self.position.out, self.position.err,
                     self.ename, self.evalue, self.traceback, self.exit_code)
};

// kHeld: a nested cell that would need the event loop, which the waiting cell holds.
enum class DoneStatus : uint8_t { kOk = 0, kError = 1, kInterrupted = 2, kHeld = 3 };

// The last frame of a cell, exactly one.
struct Done {
  static constexpr MessageType kType = MessageType::kDone;
  uint32_t cell = 0;
  Position position;
  DoneStatus status = DoneStatus::kOk;
  bool stdin_requested = false;
  CELLAR_WIRE_FIELDS(self.cell, self.position.ring, self.position.out, self.position.err,
                     self.status, self.stdin_requested)
};

// Something the user should know that is not output, e.g. that a broken sys.stdout was put back.
struct Notice {
  static constexpr MessageType kType = MessageType::kNotice;
  uint32_t cell = 0;
  std::string text;
  CELLAR_WIRE_FIELDS(self.cell, self.text)
};

struct Value {
  static constexpr MessageType kType = MessageType::kValue;
  uint32_t request = 0;
  ValueKind kind = ValueKind::kAbsent;
  std::string data;  // JSON, raw bytes, or the reason of a failure
  CELLAR_WIRE_FIELDS(self.request, self.kind, self.data)
};

struct QueryAnswer {
  static constexpr MessageType kType = MessageType::kQueryAnswer;
  uint32_t request = 0;
  bool ok = true;
  std::string data;  // JSON, or the reason of a failure
  CELLAR_WIRE_FIELDS(self.request, self.ok, self.data)
};

// From the process that was asked.
struct Copied {
  static constexpr MessageType kType = MessageType::kCopied;
  uint32_t request = 0;
  std::string error;       // why there is no copy, or empty
  int32_t pid = 0;         // of the copy
  int32_t keeper_pid = 0;  // of a branch's keeper
  uint32_t fork_us = 0;    // how long the asked process stood still
  CELLAR_WIRE_FIELDS(self.request, self.error, self.pid, self.keeper_pid, self.fork_us)
};

// Bytes of anonymous memory of one process; all 0 for one that is gone.
struct Memory {
  uint64_t resident = 0;
  uint64_t proportional = 0;  // each page divided by the number of processes that share it
  CELLAR_WIRE_FIELDS(self.resident, self.proportional)
};

// In the order of the pids that were asked for.
struct Measured {
  static constexpr MessageType kType = MessageType::kMeasured;
  std::vector<Memory> processes;
  CELLAR_WIRE_FIELDS(self.processes)
};

// --- bridge calls
// ---------------------------------------------------------------------------------------------------

enum class OfferKind : uint8_t { kTools = 0, kBudget = 1, kInput = 2 };
inline constexpr size_t kOfferKinds = 3;

// What the host offers to cells. On the channel when a worker starts and when it changes; on a line
// before the next answer, since a cell that runs does not read the channel.
struct BridgeOffer {
  static constexpr MessageType kType = MessageType::kBridgeOffer;
  uint64_t sequence = 0;  // of one kind, the highest one counts
  OfferKind kind = OfferKind::kTools;
  std::string json;  // [{"name", "description", "schema"}], or {"total", "hard", "spent"}, or true
  CELLAR_WIRE_FIELDS(self.sequence, self.kind, self.json)
};

// Carries one end of a stream socket, the line.
struct OpenLine {
  static constexpr MessageType kType = MessageType::kOpenLine;
  bool of_main_thread =
      false;  // waits there are made by the main thread, which can run a cell then
  CELLAR_WIRE_FIELDS(self.of_main_thread)
};

struct BridgeCall {
  static constexpr MessageType kType = MessageType::kBridgeCall;
  uint64_t call = 0;  // unique within the worker
  uint32_t cell = 0;  // that makes it, or started the thread or task that does; 0 = not known
  std::string name;
  std::string args;  // JSON
  CELLAR_WIRE_FIELDS(self.call, self.cell, self.name, self.args)
};

// Nobody waits for the answer any more.
struct BridgeWithdraw {
  static constexpr MessageType kType = MessageType::kBridgeWithdraw;
  uint64_t call = 0;
  CELLAR_WIRE_FIELDS(self.call)
};

enum class AnswerKind : uint8_t { kValue = 0, kError = 1, kCancelled = 2 };

struct BridgeImage {
  std::string mime;
  std::string data;
  CELLAR_WIRE_FIELDS(self.mime, self.data)
};

struct BridgeAnswer {
  static constexpr MessageType kType = MessageType::kBridgeAnswer;
  uint64_t call = 0;
  AnswerKind kind = AnswerKind::kValue;
  std::string data;  // JSON, or the message of an error
  std::vector<BridgeImage> images;
  CELLAR_WIRE_FIELDS(self.call, self.kind, self.data, self.images)
};

// Run a cell inside the wait for `call`. Answered by Display, Error and Done on the channel.
struct BridgeNested {
  static constexpr MessageType kType = MessageType::kBridgeNested;
  uint64_t call = 0;
  uint32_t cell = 0;
  std::string code;
  CELLAR_WIRE_FIELDS(self.call, self.cell, self.code)
};

// --- host <-> template
// ----------------------------------------------------------------------------------------------

// Where the worker program finds its control socket and a pidfd of its host.
inline constexpr int kControlFd = 3;
inline constexpr int kHostAliveFd = 4;

struct Start {
  static constexpr MessageType kType = MessageType::kStart;
  uint32_t version = kProtocolVersion;
  std::string executable;  // what sys.executable will be; decides prefix and site-packages
  std::string home;        // PYTHONHOME, for prefixes without a pyvenv.cfg; or empty
  // Put in front of LD_LIBRARY_PATH when the program was started, so that the libpython there is
  // used; or empty.
  std::string library_directory;
  // Of an installation that has no libpython: added to the worker's own Python. Or empty.
  std::string site_packages;
  std::string prefix;  // what sys.prefix will be then
  std::vector<std::string> preload;
  std::vector<std::string> warnings;  // of an earlier attempt, passed on in Ready
  CELLAR_WIRE_FIELDS(self.version, self.executable, self.home, self.library_directory,
                     self.site_packages, self.prefix, self.preload, self.warnings)
};

struct Ready {
  static constexpr MessageType kType = MessageType::kReady;
  uint32_t version = kProtocolVersion;
  std::string python_version;
  std::string libpython;
  std::string prefix;
  std::vector<std::string> warnings;  // e.g. a preload that failed
  CELLAR_WIRE_FIELDS(self.version, self.python_version, self.libpython, self.prefix, self.warnings)
};

struct Failed {
  static constexpr MessageType kType = MessageType::kFailed;
  uint32_t version = kProtocolVersion;
  std::string reason;
  CELLAR_WIRE_FIELDS(self.version, self.reason)
};

// Carries the descriptors that a worker is born with, up to the keeper's. Answered on the keeper's
// socket by KeeperHello.
struct Fork {
  static constexpr MessageType kType = MessageType::kFork;
  uint32_t request = 0;
  CELLAR_WIRE_FIELDS(self.request)
};
enum BirthFd {
  kChannelFd,
  kRingFd,
  kDoorbellFd,
  kStdoutFd,
  kStderrFd,
  kFaultsFd,
  kKeeperFd,
  kKeeperHostAliveFd,  // a template's keepers have it already
  kBirthFdCount
};
inline constexpr size_t kForkFdCount = kKeeperFd + 1;

inline constexpr size_t CopyFdCount(CopyKind kind) {
  switch (kind) {
    case CopyKind::kAsleep:
      return kChannelFd + 1;
    case CopyKind::kRestored:
      return kFaultsFd + 1;
    default:
      return kBirthFdCount;
  }
}

struct ForkFailed {
  static constexpr MessageType kType = MessageType::kForkFailed;
  uint32_t request = 0;
  int32_t error = 0;  // errno
  CELLAR_WIRE_FIELDS(self.request, self.error)
};

// --- host <-> keeper
// ------------------------------------------------------------------------------------------------

// Private signals of a worker: interrupt whatever the cell did to SIGINT; write the Python stacks.
inline int InsistSignal() { return SIGRTMIN + 10; }
inline int DumpSignal() { return SIGRTMIN + 11; }

// Sends `signal` to the worker's process group.
struct Signal {
  static constexpr MessageType kType = MessageType::kSignal;
  int32_t signal = 0;
  bool group = true;  // false: to the worker alone
  CELLAR_WIRE_FIELDS(self.signal, self.group)
};

// Kill everything below the keeper but snapshots and branches. Without snapshots the keeper then
// ends, which the host sees as the end of its socket.
struct Kill {
  static constexpr MessageType kType = MessageType::kKill;
  int32_t worker_pid = 0;  // the one that is meant, and no later one; 0 = whichever there is
  CELLAR_WIRE_FIELDS(self.worker_pid)
};

// That child is a snapshot, to be left alone when the worker ends.
struct Keep {
  static constexpr MessageType kType = MessageType::kKeep;
  int32_t pid = 0;
  CELLAR_WIRE_FIELDS(self.pid)
};

// That child is the worker from now on; the one before has ended. Answered by KeeperHello, or by
// ForkFailed when it is gone.
struct Promote {
  static constexpr MessageType kType = MessageType::kPromote;
  int32_t pid = 0;
  CELLAR_WIRE_FIELDS(self.pid)
};

// That child is the keeper of a session that branched off from this one, to be left alone.
struct Spare {
  static constexpr MessageType kType = MessageType::kSpare;
  int32_t keeper_pid = 0;
  int32_t worker_pid = 0;
  CELLAR_WIRE_FIELDS(self.keeper_pid, self.worker_pid)
};

// Carries pidfds of the worker and of the keeper.
struct KeeperHello {
  static constexpr MessageType kType = MessageType::kKeeperHello;
  int32_t keeper_pid = 0;
  int32_t worker_pid = 0;
  CELLAR_WIRE_FIELDS(self.keeper_pid, self.worker_pid)
};

struct WorkerExited {
  static constexpr MessageType kType = MessageType::kWorkerExited;
  bool signaled = false;
  int32_t code = 0;  // signal or exit code
  CELLAR_WIRE_FIELDS(self.signaled, self.code)
};

// After WorkerExited, when there are snapshots: what the worker had started is gone too.
struct Cleared {
  static constexpr MessageType kType = MessageType::kCleared;
  CELLAR_WIRE_FIELDS()
};

#undef CELLAR_WIRE_FIELDS

template <typename Message>
std::string MessageFrame(const Message& message) {
  return EncodeFrame(static_cast<uint16_t>(Message::kType), Encode(message));
}

}  // namespace cellar::wire
