// Where a pyenv shim leads, told from pyenv's files: running the shim, a shell script that starts
// more of them, takes some 100 ms of every start.
#pragma once

#include <string>

#include "host/runtime/environment.h"

namespace cellar::host {

// The executable that the shim <root>/shims/<name> would run in `cwd`. Empty when `path` is not a
// shim, and whenever the answer is not a plain version that is installed (`system`, a prefix such
// as `3.11`, a missing version): pyenv itself must answer then.
std::string ResolvePyenvShim(const std::string& path, const Environment& env,
                             const std::string& cwd);

}  // namespace cellar::host
