// `cellar eval`: one call from arguments, files or standard input.
#pragma once

#include "CLI/CLI.hpp"

namespace cellar::host {

void AddEvalCommand(CLI::App& app, int* exit_code);

}  // namespace cellar::host
