// Directories for what is the user's alone.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace cellar {

// Makes `path` and the parents that are missing, each with mode 0700.
absl::Status MakePrivateDirectories(const std::string& path);

}  // namespace cellar
