// What became of a call, and the one JSON schema in which programs get it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/session/outcome.h"

namespace cellar::host {

enum class CellRunStatus { kPending, kRunning, kComplete, kError, kCancelled, kNotRun };

CellRunStatus RunStatusOf(CellStatus status);

struct CellResult {
  CellRunStatus status = CellRunStatus::kPending;
  std::string title;
  CellOutcome outcome;  // meaningful once the cell has run
  int runs = 1;         // 2 after a retry; 0 when it was not run
  std::string clamp_note;
  // Of a cell of a notebook, which may raise without failing where its tag says so.
  std::optional<bool> failed;
};

enum class CallStatus { kOk, kError, kCancelled, kRunning };

struct CallResult {
  CallStatus status = CallStatus::kOk;
  std::string handle;  // of a call that was left running in the background; or empty
  std::string session_id;
  StateAfter session_state = StateAfter::kKept;  // what the last cell that changed it said
  std::string session_reason;                    // a sentence, unless the state was kept
  std::vector<CellOutput> background;            // what earlier calls had started printed since
  std::vector<CellResult> cells;
  std::string refusal;  // why there are none: the call was refused; or empty
};

// As in the JSON: "ok", "kept".
std::string_view NameOf(CallStatus status);
std::string_view NameOf(StateAfter state);

// A JSON object, on one line unless `pretty`. Everything that came from the worker is taken for
// untrusted: what is not JSON, or too deep, stands as a string; invalid UTF-8 is replaced.
std::string ResultToJson(const CallResult& result, bool pretty);

}  // namespace cellar::host
