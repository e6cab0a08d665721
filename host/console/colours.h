// The colours of what the program itself writes to a terminal.
#pragma once

#include <string>
#include <string_view>

namespace cellar::host {

inline constexpr std::string_view kReset = "\x1b[0m";
inline constexpr std::string_view kBold = "\x1b[1m";
inline constexpr std::string_view kDim = "\x1b[2m";
inline constexpr std::string_view kRed = "\x1b[31m";
inline constexpr std::string_view kGreen = "\x1b[32m";
inline constexpr std::string_view kYellow = "\x1b[33m";
inline constexpr std::string_view kBoldCyan = "\x1b[1;36m";

inline std::string Coloured(std::string_view text, std::string_view colour) {
  return std::string(colour).append(text).append(kReset);
}

}  // namespace cellar::host
