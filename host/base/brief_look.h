// Looking for something again and again, for a moment, before going to sleep until it is there. In
// some virtual machines waking a processor takes 40 us, which is as much as a quick cell: not to
// sleep between two of them is cheaper than to be woken.
#pragma once

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"

namespace cellar {

// True as soon as `is_there` says so. At once false where there is only one processor: whoever is
// waited for could not run.
bool LookBriefly(absl::Duration limit, absl::FunctionRef<bool()> is_there);

}  // namespace cellar
