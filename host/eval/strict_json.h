// Parses JSON from a client within limits, and refuses repeated fields, which a parsed document no
// longer shows; and names places in it for messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace cellar::host {

// Requests need no more than three levels.
inline constexpr size_t kMaxRequestDepth = 16;

// An InvalidArgument says what is wrong, and where. An escape that is half of a surrogate pair is
// read as U+FFFD.
absl::StatusOr<nlohmann::json> ParseStrictJson(std::string_view text, size_t max_bytes,
                                               size_t max_depth = kMaxRequestDepth);
// Of a document that cannot be parsed: the fields before the fault that are no arrays or objects.
// They are enough to tell whom to answer.
nlohmann::json ReadableFields(std::string_view text);

// Text of the client, short and printable, for messages.
std::string Shortened(std::string_view text);
// "cells[2].code"; `parent` may be empty.
std::string PathOf(const std::string& parent, std::string_view name);
std::string PathOf(const std::string& parent, size_t index);

}  // namespace cellar::host
