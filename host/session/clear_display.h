// A display that takes away what the cell has shown.
#pragma once

#include <string>

#include "host/wire/channel_messages.h"

namespace cellar::host {

// Of one of kind kClear: whether that waits for the next output. Its metadata is {"wait": true} or
// {"wait": false}.
inline bool ClearsWithNext(const wire::Display& display) {
  return display.metadata.find("true") != std::string::npos;
}

}  // namespace cellar::host
