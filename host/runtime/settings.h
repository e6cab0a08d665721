// The settings a user or a project can write down, with their defaults, and how they are read. What
// a setting does is up to the part that it belongs to.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "host/runtime/environment.h"
#include "host/runtime/snapshot_policy.h"

namespace cellar::host {

// Which tools an agent is offered.
enum class ToolMode { kBoth, kIpyOnly, kBashOnly };
// As it is spelled in settings: "both", "ipy-only", "bash-only".
absl::string_view ToolModeName(ToolMode mode);

// What happens to a cell whose worker died under it.
enum class Retry { kNever, kOnce };

// The comment after a member is its key in config.json, where that differs from the name.
struct Settings {
  std::string interpreter;             // executable or environment directory; empty = choose
  std::vector<std::string> preload;    // modules imported once, in the template
  std::vector<std::string> env_allow;  // "NAME" or "PREFIX_*", on top of the built-in lists
  std::vector<std::string> env_deny;   // same form; wins over every allowance
  ToolMode tool_mode = ToolMode::kBoth;
  absl::Duration interrupt_grace = absl::Seconds(3);  // interrupt_grace_s
  int max_sessions = 256;
  int max_waiting_calls = 20'000;                   // for one session
  absl::Duration idle_timeout = absl::Minutes(30);  // idle_timeout_s; 0 = sessions stay open
  int64_t memory_cap_bytes = 0;                     // memory_cap_mb (MiB); 0 = no cap
  Retry retry = Retry::kNever;
  int64_t output_budget_bytes = 50 * 1024;  // output_budget_kb (KiB)
  // display_inline_kb (KiB): larger images and JSON of displays become files; 0 = none do.
  int64_t display_inline_bytes = int64_t{1} << 20;
  absl::Duration artifacts_max_age = absl::Hours(24 * 7);  // artifacts_max_age_h
  int64_t artifacts_max_bytes = int64_t{4} << 30;          // artifacts_max_mb (MiB)
  SnapshotPolicy snapshots = SnapshotPolicy::kAuto;
  int snapshots_kept = 4;
  int snapshots_memory_percent = 25;  // of the available memory, for those of all sessions

  // Key -> the file, variable or option that gave it; what has its default is not there.
  std::map<std::string, std::string> origins;
};

// In rising order of strength: the user's file, $XDG_CONFIG_HOME/cellar/config.json (~/.config);
// the project's, <cwd>/.cellar/config.json; variables, CELLAR_ and the key in capitals (lists with
// commas), and PI_PY for the tool mode; `options`, each "KEY=VALUE". The stronger value replaces
// the weaker, except for env_allow and env_deny, which add up: a project must not be able to lift
// what its user denied, nor to let one of the user's secrets through. A missing file is an empty
// one, an empty variable an unset one. Everything else that does not fit (unreadable file, bad
// JSON, unknown key, wrong type, out of range) is an InvalidArgument that names the place.
absl::StatusOr<Settings> LoadSettings(const Environment& env, const std::string& cwd,
                                      const std::vector<std::string>& options = {});

// A variable that asks for another value of a session's setting than it has.
struct UnmetVariable {
  std::string name;
  std::string key;    // of the setting
  std::string value;  // which it has; JSON
};
// InvalidArgument as for LoadSettings.
absl::StatusOr<std::vector<UnmetVariable>> UnmetVariables(const Environment& env,
                                                          const Settings& settings);

struct ShownSetting {
  std::string key;
  std::string value;   // JSON
  std::string origin;  // "default", or as in Settings::origins
  bool of_host;        // of all sessions of a host, and taken from its own settings only
};
// All of them, in the order in which they are documented.
std::vector<ShownSetting> ShowSettings(const Settings& settings);

}  // namespace cellar::host
