// `cellar serve`: the line protocol on standard input and output.
#pragma once

#include "CLI/CLI.hpp"

namespace cellar::host {

void AddServeCommand(CLI::App& app, int* exit_code);

}  // namespace cellar::host
