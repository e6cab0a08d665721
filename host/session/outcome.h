// What became of a cell: plain data, the same for every front end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "host/output/truncation.h"
#include "host/wire/display.h"
#include "host/worker/worker_exit.h"

namespace cellar::host {

// Data of a display that is in a file, because it is larger than SinkOptions::max_inline_bytes or
// the result had no room for it.
struct SavedData {
  std::string mime;
  uint64_t bytes = 0;
  std::string artifact_id;  // empty: it could not be saved; where there is room `data` has it
  std::string artifact_path;
  std::string error;  // why it could not
};

struct CellOutput {
  enum class Type { kStdout, kStderr, kDisplay, kResult, kStatus };
  Type type = Type::kStdout;
  std::string text;                   // of a stream: safe to show
  std::vector<wire::MimeEntry> data;  // of the others: a MIME bundle, as the worker sent it
  std::vector<SavedData> saved;       // of the others: what `data` is without, or has the start of
  std::string metadata;               // JSON object, or empty
  std::string display_id;
  bool update = false;  // replaces the display of that id, which an earlier cell showed
};

// Total bytes of the output's MIME data.
uint64_t DataBytes(const CellOutput& output);
// How many bytes of MIME data an outcome carries, since the loop thread makes JSON of them. The
// rest is in files.
inline constexpr uint64_t kResultRoom = 16u << 20;

// What the user's Python raised.
struct CellError {
  std::string ename;
  std::string evalue;
  std::string traceback;
  std::optional<int> exit_code;  // of a SystemExit
};

enum class CellStatus { kComplete, kError, kCancelled };

// What the session's state is after the cell, as far as the cell's author could expect one.
enum class StateAfter {
  kKept,
  kRestored,  // the worker is gone; the state is that of a snapshot, state_detail says which
  kLost,      // the worker is gone, and with it all that cells had defined
  kFresh,     // kept, but the cell ran in a namespace that was unexpectedly empty
};

struct CellOutcome {
  CellStatus status = CellStatus::kComplete;
  uint32_t execution_count = 0;
  // 2 when its worker died and it was run again, 0 when it was cancelled before it began.
  int runs = 1;
  absl::Duration duration;
  std::vector<CellOutput> outputs;
  std::vector<CellOutput>
      background;  // what earlier cells' tasks and threads printed since the last outcome
  std::optional<CellError> error;
  std::optional<WorkerExit> death;  // of the worker, during this cell
  bool timed_out = false;
  bool stdin_requested = false;
  StateAfter state = StateAfter::kKept;
  std::string state_detail;  // a sentence, when there is something to say
  std::vector<std::string> notices;
  std::optional<Truncation> truncation;

  bool ok() const { return status == CellStatus::kComplete; }
  // The value of the cell's last expression as text/plain; nothing when it had none.
  std::optional<std::string> result() const;
  // What it printed to stdout, and to stderr.
  std::string stdout_text() const;
  std::string stderr_text() const;
};

}  // namespace cellar::host
