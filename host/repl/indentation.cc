#include "host/repl/indentation.h"

#include <algorithm>
#include <array>

#include "host/repl/python_tokens.h"

namespace cellar::host {
namespace {

constexpr std::array<std::string_view, 5> kBlockEnds = {"break", "continue", "pass", "raise",
                                                        "return"};

// The last line up to its comment, and whether it is inside a string.
struct LastLine {
  std::string_view code;
  bool in_string = false;
};

LastLine FindLastLine(std::string_view text) {
  const size_t newline = text.rfind('\n');
  const size_t start = newline == std::string_view::npos ? 0 : newline + 1;
  LastLine line = {.code = text.substr(start)};
  for (const Token& token : FindTokens(text)) {
    if (token.end != text.size()) continue;
    if (token.kind == TokenKind::kComment && token.begin >= start) {
      line.code = text.substr(start, token.begin - start);
    }
    line.in_string = token.kind == TokenKind::kString && token.begin < start;
  }
  return line;
}

}  // namespace

std::string NextIndent(std::string_view text) {
  LastLine line = FindLastLine(text);
  const size_t indent = std::min(line.code.find_first_not_of(" \t"), line.code.size());
  std::string next(line.code.substr(0, indent));
  if (line.in_string) return next;
  std::string_view code = line.code.substr(indent);
  while (!code.empty() && (code.back() == ' ' || code.back() == '\t')) code.remove_suffix(1);
  if (code.empty()) return next;
  if (std::string_view(":([{").find(code.back()) != std::string_view::npos) {
    return next + std::string(kIndent, ' ');
  }
  const std::string_view word = code.substr(0, code.find_first_of(" \t("));
  if (std::ranges::find(kBlockEnds, word) != kBlockEnds.end() && next.size() >= kIndent) {
    next.resize(next.size() - kIndent);
  }
  return next;
}

}  // namespace cellar::host
