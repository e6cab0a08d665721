// Environment variables: the host's as a value, and those a worker gets. Does not choose the
// interpreter and never changes this process's own environment.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cellar::host {

struct Interpreter;
struct Settings;

using Environment = std::map<std::string, std::string>;

// What a caller sets on top, name by name; nullopt removes the variable.
using EnvironmentOverrides = std::map<std::string, std::optional<std::string>>;

// A copy of this process's environment. Call it before other threads may run setenv.
Environment CurrentEnvironment();

// Empty when `name` is not set: nothing here tells an empty variable from a missing one.
std::string EnvironmentValue(const Environment& env, const std::string& name);

// A path as a person writes it: `~`, and what is below `~/`, is in HOME.
std::string WithHome(const std::string& path, const Environment& env);

// InvalidArgument for a name that is empty or contains '=' or NUL, and for a value with NUL.
absl::Status ValidateOverrides(const EnvironmentOverrides& overrides);

// Whether a variable is one that workers do not get unless the user names it: by its name, or
// because its value has an address with a user or a password in it and is not that of a proxy.
bool LooksLikeSecret(const std::string& name, const std::string& value);

// What programs that cellar starts may see of `host_env`: what is on the allowlist or in
// settings.env_allow, less what looks like a secret and what settings.env_deny matches. A secret
// passes only if env_allow has its full name (a pattern is not enough); PI_TOOL_BRIDGE_TOKEN always
// passes, since it is cellar's own. Of PYTHON*, those pass that a script started by the user would
// also obey (PYTHONPATH, PYTHONHOME, PYTHONHASHSEED, ...); not those about a prompt, start-up
// tracing or another executable.
Environment PassedEnvironment(const Environment& host_env, const Settings& settings);

// The worker's environment as sorted "K=V". In this order, later steps winning:
//  1. PassedEnvironment().
//  2. The adopted interpreter: its bin first on PATH, unless that is a system directory, which
//     would push the user's own tools back; VIRTUAL_ENV and CONDA_PREFIX say what was adopted, and
//     a VIRTUAL_ENV that was not adopted is left out.
//  3. PI_ARTIFACTS_DIR and its alias ARTIFACTS. InvalidArgument for one with NUL.
// The filter prevents accidents; it does not confine code that can read the user's files.
absl::StatusOr<std::vector<std::string>> BuildWorkerEnvironment(
    const Environment& host_env, const Settings& settings, const Interpreter& interpreter,
    const std::string& artifacts_directory);

}  // namespace cellar::host
