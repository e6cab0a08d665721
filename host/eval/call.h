// What a client asks for: one call of one or more cells, and how it is read from JSON. Knows the
// schema of requests; runs nothing and looks at no file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "host/runtime/settings.h"
#include "host/session/opening.h"
#include "host/wire/channel_messages.h"
#include "nlohmann/json_fwd.hpp"

namespace cellar::host {

struct CallCell {
  std::string code;  // UTF-8
  std::string title;
  absl::Duration timeout = absl::Seconds(30);  // of inactivity; zero = none
  double given_timeout = 30;                   // in seconds, before it was clamped
  bool reset = false;                          // a fresh namespace before this cell
  std::string clamp_note;                      // "timeout 9999 s was clamped to 3600 s", or empty
};

enum class CallMode { kSession, kPerCall };

struct Call {
  std::string session;
  std::string cwd;  // empty: the session's, or the client's
  SessionOpening opening;
  std::string interpreter;            // the session must have it; empty: any
  std::string by = "another client";  // who makes it, for those who watch the session
  std::string enter;  // a directory to be in, whichever the session was opened in; or empty
  CallMode mode = CallMode::kSession;
  std::vector<wire::EnvironmentEntry> environment;
  std::string owner;
  std::optional<Retry> retry;  // nothing: as the settings say
  // How long the client waits for the result; then it gets a handle. Nothing: as long as it takes.
  std::optional<absl::Duration> background_after;
  std::string parent;  // handle of the call whose running cell waits for this one; or empty
  std::vector<CallCell> cells;
};

// Reads a request in either shape: `timeout` and `reset` stand in the cells, or, the older one, at
// the top, where `timeout` is that of every cell that has none and `reset` is for the first cell
// only. Strict: an InvalidArgument names every field that is wrong by its path, and what was
// expected.
absl::StatusOr<Call> ParseCall(std::string_view json);
// The same for a document that ParseStrictJson has read, and of which the fields `taken` have been
// taken out.
absl::StatusOr<Call> CallFromJson(const nlohmann::json& document,
                                  const std::vector<std::string>& taken = {});

// What ParseCall asks of a cell, for cells that came another way: code that is not blank, UTF-8
// without NUL. `index` is the cell's place in the call, for the message.
absl::Status ValidateCell(const CallCell& cell, size_t index);

// Zero means none; what is not within 1..3600 is clamped, and the cell says so in `clamp_note`.
void SetTimeout(double seconds, CallCell& cell);

}  // namespace cellar::host
