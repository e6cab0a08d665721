// A call's result as text for a model. What a stream's text leaves out was decided by the sink.
#pragma once

#include <string>

#include "host/eval/result.h"

namespace cellar::host {

// Never empty, printable, without a final newline. Background output comes last, under a heading.
std::string TranscriptOf(const CallResult& result);

}  // namespace cellar::host
