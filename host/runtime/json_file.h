// Small JSON files that people write by hand.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace cellar::host {

// Nothing when there is no such file. An InvalidArgument names the file, and line and column where
// the text is not JSON.
absl::StatusOr<std::optional<nlohmann::json>> ReadJsonFile(const std::string& path);

}  // namespace cellar::host
