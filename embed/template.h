// The template: a warm interpreter with one thread, in which a worker is built but does not run,
// and from which keepers and workers are forked. It answers the host's fork requests and is the
// last resort that ends what a dead keeper left behind.
#pragma once

#include "host/base/unique_fd.h"
#include "host/wire/template_messages.h"

namespace cellar::embed {

// Starts Python as `start` says, tells the host, serves until the host is gone. Never returns. In a
// forked worker the same call ends with the worker.
[[noreturn]] void RunTemplate(const wire::Start& start, UniqueFd control, UniqueFd host_alive);

}  // namespace cellar::embed
