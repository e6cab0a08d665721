// The eval tool as a model is told of it.
#pragma once

#include <string>

#include "host/runtime/settings.h"

namespace cellar::host {

// A JSON object: "name", "tool_mode", "offered" (false in mode bash-only), "description" and
// "input_schema", a JSON Schema of what ParseCall takes. Indented.
std::string DescribeTool(ToolMode mode);

}  // namespace cellar::host
