// `cellar repl`: a person's prompt, on a session of its own or one of the daemon.
#pragma once

#include "CLI/CLI.hpp"

namespace cellar::host {

void AddReplCommand(CLI::App& app, int* exit_code);

}  // namespace cellar::host
