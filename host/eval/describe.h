// Describes the eval tool to a model.
#pragma once

#include <string>
#include <string_view>

#include "host/runtime/settings.h"

namespace cellar::host {

// A JSON object: "name", "tool_mode", "offered" (false in mode bash-only), "reason" for that mode
// unless it is empty, "description" and "input_schema", a JSON Schema of what ParseCall takes. It
// is indented. A model is not told of the fields that programs set. With `names_session` the
// program that makes the calls names their session, and a model is not told of that field either.
std::string DescribeTool(ToolMode mode, std::string_view reason = {}, bool names_session = false);

}  // namespace cellar::host
