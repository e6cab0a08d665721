// PI_DEBUG_STARTUP=1: the stages of a start with their times, on standard error.
#pragma once

#include <string_view>

namespace cellar {

// "cellar: start  12.3 ms  interpreter chosen", in milliseconds since the process began. Nothing
// unless the variable was set when the first stage was reached. Any thread.
void TraceStartup(std::string_view stage);

}  // namespace cellar
