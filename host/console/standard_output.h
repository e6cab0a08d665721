// What a command prints as its answer, and what it means for the exit code if it cannot be written.
#pragma once

#include <string_view>

namespace cellar::host {

// For a program that `error`, an errno, keeps from writing its standard output. Returns its exit
// code: kExitReaderGone, about which there is nothing to complain, or kExitCannotRun.
int ComplainOfLostOutput(int error);

// Writes all of it. kExitFine, or the above.
int WriteOut(std::string_view text);

// At the program's end, which would not say that what was printed with printf could not be written.
// A command that has failed has its own exit code.
int ExitCodeAfterOutput(int exit_code);

}  // namespace cellar::host
