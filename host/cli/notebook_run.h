// `cellar notebook run`: executes a notebook's cells, in a session of its own or one of the daemon,
// and writes their outputs into the file.
#pragma once

#include <CLI/App.hpp>

namespace cellar::host {

// Adds the subcommand to `notebook`. When it is parsed it runs at once and sets `exit_code`, which
// must outlive the parsing.
void AddNotebookRunCommand(CLI::App& notebook, int* exit_code);

}  // namespace cellar::host
