// `cellar daemon`: the program that keeps named sessions between commands.
#pragma once

#include "CLI/CLI.hpp"

namespace cellar::host {

void AddDaemonCommand(CLI::App& app, int* exit_code);

}  // namespace cellar::host
