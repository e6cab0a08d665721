// Where a session stands after a rewind or a branch: as the daemon answers it, and as a person is
// told it.
#pragma once

#include <string>

#include "host/session/session.h"
#include "nlohmann/json.hpp"

namespace cellar::host {

// In the last frame of a request.
Standing StandingIn(const nlohmann::ordered_json& done);

// "the state is that of before cell 3; not carried over: a thread"
std::string Describe(const Standing& standing);

}  // namespace cellar::host
