#include "host/output/printable.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_format.h"
#include "host/base/utf8.h"
#include "host/output/sanitiser.h"
#include "host/output/unwanted.h"

namespace cellar::host {

std::string Printable(std::string_view text) {
  std::string still;
  still.reserve(text.size());
  std::copy_if(text.begin(), text.end(), std::back_inserter(still),
               [](char byte) { return byte != '\r' && byte != '\b'; });
  std::string printable;
  printable.reserve(still.size());
  Sanitiser sanitiser;
  sanitiser.Write(still, &printable);
  sanitiser.Finish(&printable);
  return printable;
}

std::string WithUnwantedEscaped(std::string_view text) {
  const auto is_plain = [](char byte) { return byte >= 0 && !IsUnwanted(char32_t(byte)); };
  std::string escaped;
  escaped.reserve(text.size());
  while (!text.empty()) {
    const auto plain = static_cast<size_t>(std::ranges::find_if_not(text, is_plain) - text.begin());
    escaped.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const std::string_view character = text.substr(0, Utf8CharacterSize(text));
    if (character.empty()) {
      escaped += kReplacementCharacter;
    } else if (const char32_t code = CodePointOf(character); IsUnwanted(code)) {
      absl::StrAppendFormat(&escaped, "\\u%04x", static_cast<uint32_t>(code));
    } else {
      escaped += character;
    }
    text.remove_prefix(std::max<size_t>(character.size(), 1));
  }
  return escaped;
}

}  // namespace cellar::host
