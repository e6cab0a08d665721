// What several notebook tests need to look at cells.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "notebook/document.h"
#include "notebook/json_scanner.h"
#include "notebook/json_string.h"
#include "notebook/marker.h"

namespace cellar::notebook {

// The members of a cell, key and value as they are written, without those called one of `except`.
inline std::vector<std::string> MembersExcept(const Document& document, size_t cell,
                                              const std::vector<std::string>& except) {
  std::vector<std::string> members;
  for (const Member& member : Members(document.bytes(), document.span(cell))) {
    const std::string key = Decoded(Slice(document.bytes(), member.key));
    if (std::find(except.begin(), except.end(), key) != except.end()) continue;
    members.emplace_back(Slice(document.bytes(), {member.key.begin, member.value.end}));
  }
  return members;
}

// One cell as the text view shows it.
inline std::string RenderCell(const Document& document, size_t cell) {
  std::string text = CellMarker(document.type(cell), cell) + "\n";
  if (const std::string source = document.Source(cell); !source.empty()) {
    AppendEscaped(source, &text);
    text += '\n';
  }
  return text;
}

}  // namespace cellar::notebook
