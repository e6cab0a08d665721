// The words that are no names in Python.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace cellar {

// Sorted, for binary search. Soft keywords (match, case, type) are names more often than not.
inline constexpr std::array<std::string_view, 35> kPythonKeywords = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
static_assert(std::ranges::is_sorted(kPythonKeywords));

inline bool IsPythonKeyword(std::string_view word) {
  return std::ranges::binary_search(kPythonKeywords, word);
}

}  // namespace cellar
