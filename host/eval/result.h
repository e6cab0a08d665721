// What became of a call, and the names that programs get for it. Its JSON is in result_json.h.
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
  // Only a cell of a notebook has this: it may raise without failing, where its tag says so.
  std::optional<bool> failed;
};

inline constexpr size_t kTextBudget = size_t{50} << 10;

enum class CallStatus { kOk, kError, kCancelled, kRunning };

struct CallResult {
  CallStatus status = CallStatus::kOk;
  std::string handle;  // of a call that was left running in the background; or empty
  std::string session_id;
  StateAfter session_state = StateAfter::kKept;  // what the last cell that changed it said
  std::string session_reason;                    // a sentence, unless the state was kept
  std::vector<CellOutput> background;            // printed since by what earlier calls started
  std::vector<CellResult> cells;
  size_t text_budget = kTextBudget;  // for what displays show of themselves in the text of a cell
  std::string refusal;               // why there are none: the call was refused; or empty
};

// What a display or a status event is among the outputs of a cell.
CellOutput OutputOf(const wire::Display& display);

// As in the JSON: "not_run", "ok", "kept".
std::string_view NameOf(CellRunStatus status);
std::string_view NameOf(CallStatus status);
std::string_view NameOf(StateAfter state);
// The inverse of NameOf; nothing if no status has that name.
std::optional<CellRunStatus> CellRunStatusFromName(std::string_view name);

}  // namespace cellar::host
