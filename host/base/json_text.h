// JSON as text, on one line. What is no UTF-8 in it is replaced, where dump() alone would throw.
#pragma once

#include <string>

#include "nlohmann/json.hpp"

namespace cellar {

// Of a json or an ordered_json.
template <typename Json>
std::string JsonText(const Json& value) {
  return value.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

}  // namespace cellar
