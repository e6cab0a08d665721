// The eval tool as a model is told of it.
#pragma once

#include <string>
#include <string_view>

#include "host/runtime/settings.h"

namespace cellar::host {

// A JSON object: "name", "tool_mode", "offered" (false in mode bash-only), "reason" for that mode
// unless it is empty, "description" and "input_schema", a JSON Schema of what ParseCall takes.
// Indented.
std::string DescribeTool(ToolMode mode, std::string_view reason = {});

}  // namespace cellar::host
