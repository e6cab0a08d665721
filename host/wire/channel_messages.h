// Frames on the channel of a worker: how a session is set up, its cells, their outputs, its values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/wire/display.h"
#include "host/wire/message.h"
#include "host/wire/position.h"

namespace cellar::wire {

// From the host.

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

// From the worker.

// The setup is done and cells can run, or `error` says why not. A copy says it too: it is asleep,
// or awake.
struct Hello {
  static constexpr MessageType kType = MessageType::kHello;
  uint32_t version = kProtocolVersion;
  std::string error;
  std::vector<std::string> not_carried;  // what this copy could not take over, one each
  CELLAR_WIRE_FIELDS(self.version, self.error, self.not_carried)
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

// There is no room in the ring, and the host does not hear the doorbell: a cell has closed it.
struct RingFull {
  static constexpr MessageType kType = MessageType::kRingFull;
  CELLAR_WIRE_FIELDS()
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

}  // namespace cellar::wire
