// Reads a call from JSON, by the table of fields in call_fields.h. Runs nothing and looks at no
// file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "host/eval/call.h"
#include "nlohmann/json_fwd.hpp"

namespace cellar::host {

// Reads a request in either shape: `timeout` and `reset` stand in the cells, or, the older one, at
// the top, where `timeout` is that of every cell that has none and `reset` is for the first cell
// only. Strict: an InvalidArgument names every field that is wrong by its path, and what was
// expected.
absl::StatusOr<Call> ParseCall(std::string_view json);
// The same for a document that ParseStrictJson has read, and of which the fields `taken` have been
// taken out.
absl::StatusOr<Call> CallFromJson(const nlohmann::json& document,
                                  const std::vector<std::string>& taken = {});

}  // namespace cellar::host
