// Where a session is opened when none of its name is open, and with what.
#pragma once

#include <optional>
#include <string>

#include "host/runtime/environment.h"

namespace cellar::host {

struct SessionOpening {
  std::string cwd;                 // empty: where the host is
  std::string interpreter;         // executable or environment; empty: as the host
  std::optional<Environment> env;  // of who opens it, unfiltered; nothing: the host's
};

}  // namespace cellar::host
