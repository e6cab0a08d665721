// What the program's exit code means; the same for every command.
#pragma once

namespace cellar::host {

inline constexpr int kExitFine = 0;
inline constexpr int kExitFailed = 1;  // a cell has, or the command: no such notebook, no daemon
inline constexpr int kExitUsage = 2;   // or a refused request
inline constexpr int kExitCannotRun = 3;
inline constexpr int kExitInterrupted = 130;

}  // namespace cellar::host
