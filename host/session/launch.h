// What a session is started with: the user's settings, the interpreter and the worker program,
// found once and turned into the options of host::Session. Starts nothing.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "host/runtime/environment.h"
#include "host/runtime/interpreter.h"
#include "host/runtime/settings.h"
#include "host/session/session.h"

namespace cellar::host {

struct LaunchQuery {
  Environment env;                    // the host's, see CurrentEnvironment()
  std::string cwd;                    // of the session; must be a directory; empty = the host's
  std::vector<std::string> settings;  // "KEY=VALUE", over all other settings
  // Win over the settings unless empty.
  std::string interpreter;
  std::vector<std::string> preload;
  std::string worker_program;
  std::string artifacts_directory;
  int cancel = -1;  // ProbeOptions::cancel, for what has to be run
};

struct Launch {
  Settings settings;
  Interpreter interpreter;
  std::string artifacts_directory;
  SessionOptions session;  // ready to use; callers override what differs
};

// Where cellar keeps what lasts and is not settings; it may not exist yet.
std::string StateDirectory(const Environment& env);

// Where a process keeps its artifacts: each has a directory of its own, unless PI_ARTIFACTS_DIR
// names one. It is made when there is something to put into it.
std::string ArtifactsDirectory(const Environment& env);

ArtifactLimits ArtifactLimitsFrom(const Settings& settings);

// Reads files, and runs a program where they do not tell enough (see ChooseInterpreter): not for
// the loop thread. A Status is for the user as it is: it says which setting, directory or program
// does not fit.
absl::StatusOr<Launch> PrepareLaunch(const LaunchQuery& query);

}  // namespace cellar::host
