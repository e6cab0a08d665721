// `cellar config`: the settings in effect, and where each comes from.
#pragma once

#include "CLI/CLI.hpp"

namespace cellar::host {

void AddConfigCommand(CLI::App& app, int* exit_code);

}  // namespace cellar::host
