// The worker's answers to questions, from JSON. DataLoss where they are not what a worker sends.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "cellar/queries.h"

namespace cellar {

absl::StatusOr<Completions> ParseCompletions(const std::string& json);
absl::StatusOr<Inspection> ParseInspection(const std::string& json);
absl::StatusOr<Completeness> ParseCompleteness(const std::string& json);

}  // namespace cellar
