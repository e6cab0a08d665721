// Differences of two texts, line by line.
#pragma once

#include <string>
#include <string_view>

namespace cellar::notebook {

// A unified diff with three lines of context; empty if the texts are equal. Where the texts differ
// too much for a smallest diff to be found in reasonable time, a larger but correct one.
std::string UnifiedDiff(std::string_view old_text, std::string_view new_text,
                        std::string_view old_name, std::string_view new_name);

}  // namespace cellar::notebook
