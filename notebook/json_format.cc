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

struct Separators {
  std::string_view comma;
  std::string_view colon;
};

// Copies the tokens of `json`, with `line_break(depth)` after an opening bracket, before a closing
// one and (behind the comma) between items. Empty containers stay closed up.
template <typename LineBreak>
std::string Format(std::string_view json, int depth, const Separators& separators,
                   LineBreak line_break) {
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
      out += separators.comma;
      out += line_break(depth);
    } else if (c == ':') {
      out += separators.colon;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string OneLine(std::string_view json) {
  return Format(json, 0, {", ", ": "}, [](int) { return ""; });
}

std::string Indented(std::string_view json, int depth) {
  return Format(json, depth, {",", ": "}, [](int level) { return "\n" + std::string(level, ' '); });
}

std::string InStyle(std::string_view json, const Style& style, int level) {
  const Gaps gaps = GapsInCell(style, level);
  const std::string_view comma =
      std::string_view(gaps.between).substr(0, gaps.between.size() - gaps.open.size());
  return Format(json, 0, {comma, style.colon}, [&](int depth) {
    std::string gap = gaps.close;
    for (int i = 0; i < depth; ++i) gap += style.unit;
    return gap;
  });
}

}  // namespace cellar::notebook
