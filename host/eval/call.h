// What a client asks for: one call of one or more cells. How it is read from JSON is in
// call_parser.h.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "host/runtime/settings.h"
#include "host/session/opening.h"
#include "host/wire/channel_messages.h"

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

// What ParseCall asks of a cell, for cells that came another way: code that is not blank, UTF-8
// without NUL. `index` is the cell's place in the call, for the message.
absl::Status ValidateCell(const CallCell& cell, size_t index);

// Sets the cell's timeout as ClampTimeout (call_fields.h) allows it, and what goes with it.
void SetTimeout(double seconds, CallCell& cell);

}  // namespace cellar::host
