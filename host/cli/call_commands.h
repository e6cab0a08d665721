// Commands about calls that cellar eval --detach has left running: wait, tail, cancel.
#pragma once

#include "CLI/CLI.hpp"

namespace cellar::host {

void AddCallCommands(CLI::App& app, int* exit_code);

}  // namespace cellar::host
