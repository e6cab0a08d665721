#include "host/base/brief_look.h"

#include <sched.h>

#include <chrono>

namespace cellar {
namespace {

bool HasSeveralProcessors() {
  cpu_set_t processors;
  return sched_getaffinity(0, sizeof(processors), &processors) != 0 || CPU_COUNT(&processors) > 1;
}

}  // namespace

bool LookBriefly(absl::Duration limit, absl::FunctionRef<bool()> is_there) {
  static const bool worth_it = HasSeveralProcessors();
  if (!worth_it) return false;
  const auto end = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(limit);
  while (!is_there()) {
    if (std::chrono::steady_clock::now() >= end) return false;
  }
  return true;
}

}  // namespace cellar
