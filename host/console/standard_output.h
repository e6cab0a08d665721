// What a command prints as its answer, and what it means for the exit code if it cannot be written.
#pragma once

#include <string_view>

namespace cellar::host {

// Of a program that `error`, an errno, keeps from writing its standard output: when the reader is
// gone, that of one that SIGPIPE ends; else kExitCannotRun, after a complaint.
int ExitCodeOfLostOutput(int error);

// Writes all of it. kExitFine, or the above.
int WriteOut(std::string_view text);

// At the program's end, which would not say that what was printed with printf could not be written.
// A command that has failed has its own exit code.
int ExitCodeAfterOutput(int exit_code);

}  // namespace cellar::host
