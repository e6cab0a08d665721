// Which characters a terminal would obey instead of showing them. The only list of them.
#pragma once

namespace cellar::host {

// C0 except newline and tab, DEL, C1, and the characters of the Bidi_Control property.
constexpr bool IsUnwanted(char32_t code) {
  return (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7F && code <= 0x9F) ||
         code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

}  // namespace cellar::host
