// `cellar repl`: a person's prompt on a fresh session.
#pragma once

#include "CLI/CLI.hpp"

namespace cellar::host {

void AddReplCommand(CLI::App& app, int* exit_code);

}  // namespace cellar::host
