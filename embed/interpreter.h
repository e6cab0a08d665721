// Starting CPython, through PyConfig only. Nothing here runs user code but what an environment runs
// by itself (site, .pth files, sitecustomize).
#pragma once

#include <string>
#include <vector>

#include "host/base/status.h"
#include "host/wire/template_messages.h"

namespace cellar::embed {

absl::Status StartInterpreter(const wire::Start& start);

// Imports the runtime package and then each preload. A preload that fails or starts a thread is a
// warning; the name of one that started a thread is returned in `started_threads`, since a process
// with threads must not fork.
struct Imported {
  std::vector<std::string> warnings;
  std::string started_threads;
};
absl::StatusOr<Imported> ImportModules(const std::vector<std::string>& preload);

// Freezes what has been made so far, so that a collection in a forked worker does not touch (and so
// copy) the template's pages. `collect` first throws away what preloads left behind, which costs
// milliseconds.
void FreezeGarbageCollector(bool collect);

// What Ready reports.
wire::Ready DescribeInterpreter();

}  // namespace cellar::embed
