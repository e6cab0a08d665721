// Tells a call's result as text, for a model. The sink has decided what a stream's text leaves out.
#pragma once

#include <string>

#include "host/eval/result.h"

namespace cellar::host {

// Never empty, printable, without a final newline. Background output comes last, under a heading.
std::string TranscriptOf(const CallResult& result);

}  // namespace cellar::host
