// A name for a file's content, to notice that it changed. Not meant to withstand an attacker.
#pragma once

#include <string>
#include <string_view>

namespace cellar::notebook {

// 16 lower-case hex digits; the same on every machine and in every version.
std::string ContentHash(std::string_view content);

}  // namespace cellar::notebook
