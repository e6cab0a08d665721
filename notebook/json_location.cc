#include "notebook/json_location.h"

#include <algorithm>
#include <vector>

#include "host/base/utf8.h"

namespace cellar::notebook {
namespace {

constexpr size_t kMaxShownDepth = 8;

struct Level {
  bool is_object;
  bool at_key;
  size_t index = 0;
  std::string_view key;  // with its quotes
};

size_t SkipString(std::string_view text, size_t pos) {
  for (++pos; pos < text.size() && text[pos] != '"'; ++pos) {
    if (text[pos] == '\\') ++pos;
  }
  return std::min(pos + 1, text.size());
}

// The containers open at `offset`, outermost first.
std::vector<Level> OpenLevels(std::string_view text, size_t offset) {
  std::vector<Level> levels;
  size_t pos = 0;
  while (pos < offset) {
    const char c = text[pos];
    if (c == '"') {
      const size_t end = SkipString(text, pos);
      if (end <= offset && !levels.empty()) {
        levels.back().key = levels.back().at_key ? text.substr(pos, end - pos) : "";
        levels.back().at_key = false;
      }
      pos = end;
      continue;
    }
    if (c == '{' || c == '[') {
      levels.push_back({.is_object = c == '{', .at_key = c == '{'});
    } else if ((c == '}' || c == ']') && !levels.empty()) {
      levels.pop_back();
      if (!levels.empty()) levels.back().key = {};
    } else if (c == ',' && !levels.empty()) {
      levels.back().at_key = levels.back().is_object;
      levels.back().key = {};
      ++levels.back().index;
    }
    ++pos;
  }
  return levels;
}

std::string DescribePath(std::string_view text, size_t offset) {
  const std::vector<Level> levels = OpenLevels(text, offset);
  std::string path;
  for (size_t i = 0; i < levels.size(); ++i) {
    if (i == kMaxShownDepth) return path + "…";
    if (!levels[i].is_object) {
      path += "[" + std::to_string(levels[i].index) + "]";
    } else if (!levels[i].key.empty()) {
      if (!path.empty()) path += '.';
      // As it is written: decoded, it could hold characters that command a terminal.
      path += levels[i].key.substr(1, levels[i].key.size() - 2);
    }
  }
  return path;
}

}  // namespace

std::string DescribeLocation(std::string_view text, size_t offset) {
  std::string_view before = text.substr(0, offset);
  const size_t line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  std::string_view in_line = before.substr(line_begin);
  if (line == 1 && in_line.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    in_line.remove_prefix(kByteOrderMark.size());
  }
  std::string described =
      "line " + std::to_string(line) + ", column " + std::to_string(1 + CountCharacters(in_line));
  if (std::string path = DescribePath(text, offset); !path.empty()) described += ", in " + path;
  return described;
}

}  // namespace cellar::notebook
