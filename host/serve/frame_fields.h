// The client's end of the line protocol: what stands in a frame, and how a request is written.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/session/opening.h"
#include "nlohmann/json.hpp"

namespace cellar::host {

// A field of a frame; empty, 0 or false when it is not there or something else.
std::string TextIn(const nlohmann::ordered_json& frame, const char* name);
int64_t NumberIn(const nlohmann::ordered_json& frame, const char* name);
bool FlagIn(const nlohmann::ordered_json& frame, const char* name);
nlohmann::ordered_json ObjectIn(const nlohmann::ordered_json& frame, const char* name);

// Why the server could not read a line; OK for any other frame.
absl::Status ProtocolErrorIn(const nlohmann::ordered_json& frame);

// Why a request was refused, from its last frame; OK if it was not.
absl::Status RefusalIn(const nlohmann::ordered_json& done);

// The fields that FieldReader::Opening reads.
void AddOpening(const SessionOpening& opening, nlohmann::ordered_json& request);

// A request as it is sent. InvalidArgument when it is longer than a server reads.
absl::StatusOr<std::string> LineOf(const nlohmann::ordered_json& request);

}  // namespace cellar::host
