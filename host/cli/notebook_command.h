// `cellar notebook`: notebooks shown as text, edited and converted. Turns arguments into calls of
// notebook/ and their results into text on stdout; decides nothing about notebooks itself.
#pragma once

#include <CLI/App.hpp>

namespace cellar::host {

// Adds the subcommand to `app`. When it is parsed it runs at once and sets `exit_code`, which must
// outlive the parsing.
void AddNotebookCommand(CLI::App& app, int* exit_code);

}  // namespace cellar::host
