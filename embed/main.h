// How the worker program is started: by the host with two descriptors, or by itself, to begin
// again.
#pragma once

#include <sys/types.h>

#include <string>

#include "host/wire/template_messages.h"

namespace cellar::embed {

// Executes this program anew with the same start message less one preload. Does not return.
[[noreturn]] void RestartWithout(const std::string& preload, const wire::Start& start, int control,
                                 int host_alive);

// The argument with which this program is a keeper of a worker that is its child already.
std::string KeeperOption(pid_t worker);

}  // namespace cellar::embed
