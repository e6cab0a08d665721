// `cellar doctor`: what cellar finds on this machine, and whether it works.
#pragma once

#include "CLI/CLI.hpp"

namespace cellar::host {

void AddDoctorCommand(CLI::App& app, int* exit_code);

}  // namespace cellar::host
