#include "notebook/json_format.h"

#include <cstddef>

namespace cellar::notebook {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

size_t StringEnd(std::string_view json, size_t pos) {
  for (++pos; json[pos] != '"'; ++pos) {
    if (json[pos] == '\\') ++pos;
  }
  return pos + 1;
}

size_t SkipBlanks(std::string_view json, size_t pos) {
  while (pos < json.size() && IsBlank(json[pos])) ++pos;
  return pos;
}

// Copies the tokens of `json`, with `line_break(depth)` after an opening bracket, before a closing
// one and (behind `comma`) between items. Empty containers stay closed up.
template <typename LineBreak>
std::string Format(std::string_view json, int depth, std::string_view comma, LineBreak line_break) {
  std::string out;
  size_t pos = 0;
  while ((pos = SkipBlanks(json, pos)) < json.size()) {
    const char c = json[pos];
    if (c == '"') {
      const size_t end = StringEnd(json, pos);
      out += json.substr(pos, end - pos);
      pos = end;
      continue;
    }
    ++pos;
    if (c == '{' || c == '[') {
      const size_t next = SkipBlanks(json, pos);
      out += c;
      if (json[next] == '}' || json[next] == ']') {
        out += json[next];
        pos = next + 1;
      } else {
        out += line_break(++depth);
      }
    } else if (c == '}' || c == ']') {
      out += line_break(--depth);
      out += c;
    } else if (c == ',') {
      out += comma;
      out += line_break(depth);
    } else {
      out += c;
      if (c == ':') out += ' ';
    }
  }
  return out;
}

}  // namespace

std::string OneLine(std::string_view json) {
  return Format(json, 0, ", ", [](int) { return ""; });
}

std::string Indented(std::string_view json, int depth) {
  return Format(json, depth, ",", [](int level) { return "\n" + std::string(level, ' '); });
}

}  // namespace cellar::notebook
