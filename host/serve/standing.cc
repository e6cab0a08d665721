#include "host/serve/standing.h"

#include <utility>

#include "host/serve/frame_fields.h"

namespace cellar::host {

using nlohmann::ordered_json;

Standing StandingIn(const ordered_json& done) {
  Standing standing = {.before_cell = static_cast<uint32_t>(NumberIn(done, "before_cell"))};
  for (const ordered_json& phrase : done.value("not_carried", ordered_json::array())) {
    if (phrase.is_string()) standing.not_carried.push_back(phrase.get<std::string>());
  }
  return standing;
}

std::string Describe(const Standing& standing) {
  std::string text = "the state is that of before cell " + std::to_string(standing.before_cell);
  const char* separator = "; not carried over: ";
  for (const std::string& phrase : standing.not_carried) {
    text += std::exchange(separator, ", ") + phrase;
  }
  return text;
}

}  // namespace cellar::host
