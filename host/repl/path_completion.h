// Files that a path could go on to, for Tab.
#pragma once

#include <string_view>
#include <vector>

#include "cellar/queries.h"
#include "host/runtime/environment.h"

namespace cellar::host {

// Each is what could stand behind the last slash of `typed`; a folder ends with a slash. Files that
// begin with a dot are for who has typed one. Names that cannot be typed are left out.
std::vector<Completion> CompletePath(std::string_view typed, const Environment& env);

}  // namespace cellar::host
