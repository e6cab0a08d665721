// Commands about the daemon's sessions and calls: sessions, reset, interrupt, close, wait, tail.
#pragma once

#include "CLI/CLI.hpp"

namespace cellar::host {

void AddSessionCommands(CLI::App& app, int* exit_code);

}  // namespace cellar::host
