// `cellar eval`: one call from arguments, files or standard input.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace cellar::host {

void AddEvalCommand(CLI::App& app, int* exit_code);

// For the program's arguments, before they are parsed: CLI11 takes a cell like [1, 2] for a list of
// cells.
void KeepListsWhole(const CLI::App& app, std::vector<std::string>& args);

}  // namespace cellar::host
