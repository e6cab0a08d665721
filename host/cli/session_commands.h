// Commands about the daemon's sessions: sessions, reset, interrupt, close, rewind, branch.
#pragma once

#include "CLI/CLI.hpp"

namespace cellar::host {

void AddSessionCommands(CLI::App& app, int* exit_code);

}  // namespace cellar::host
