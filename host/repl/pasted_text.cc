#include "host/repl/pasted_text.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace cellar::host {
namespace {

constexpr std::string_view kBlank = " \t";

bool IsBlank(std::string_view line) {
  return line.find_first_not_of(kBlank) == std::string_view::npos;
}

// Terminals send `\r` for a newline.
std::vector<std::string> SplitLines(std::string_view text) {
  std::vector<std::string> lines(1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' || text[i] == '\n') {
      if (text[i] == '\r' && text.substr(i + 1, 1) == "\n") ++i;
      lines.emplace_back();
    } else {
      lines.back() += text[i];
    }
  }
  return lines;
}

// Takes "Name [12]:" off; false when the line does not start so.
bool TakeNumbered(std::string_view name, std::string_view* line) {
  if (!line->starts_with(name)) return false;
  std::string_view rest = line->substr(name.size());
  const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  rest.remove_prefix(digits);
  if (digits == 0 || !rest.starts_with("]:")) return false;
  *line = rest.substr(2);
  return true;
}

// The line after its prompt, or nothing when it has none.
std::optional<std::string_view> WithoutPrompt(std::string_view line, bool first) {
  std::string_view rest = line.substr(std::min(line.find_first_not_of(kBlank), line.size()));
  const bool found = TakeNumbered("In [", &rest) || [&] {
    for (std::string_view prompt : {">>>", "...:", "..."}) {
      if (first && prompt != ">>>") return false;
      if (!rest.starts_with(prompt)) continue;
      // `...` is also an expression.
      std::string_view after = rest.substr(prompt.size());
      if (!after.empty() && after[0] != ' ') return false;
      rest = after;
      return true;
    }
    return false;
  }();
  if (!found) return std::nullopt;
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  return rest;
}

bool IsResult(std::string_view line) { return TakeNumbered("Out[", &line); }

void StripPrompts(std::vector<std::string>& lines) {
  auto first = std::ranges::find_if(lines, [](const std::string& line) { return !IsBlank(line); });
  if (first == lines.end() || !WithoutPrompt(*first, /*first=*/true)) return;
  std::erase_if(lines, IsResult);
  for (std::string& line : lines) {
    if (auto rest = WithoutPrompt(line, /*first=*/false)) line = std::string(*rest);
  }
}

void Dedent(std::vector<std::string>& lines) {
  size_t shared = std::string::npos;
  for (const std::string& line : lines) {
    if (!IsBlank(line)) shared = std::min(shared, line.find_first_not_of(' '));
  }
  for (std::string& line : lines) line.erase(0, std::min(shared, line.size()));
}

}  // namespace

std::string CleanPaste(std::string_view pasted) {
  std::vector<std::string> lines = SplitLines(pasted);
  StripPrompts(lines);
  // Part of a line is pasted as it is.
  if (lines.size() > 1) {
    while (!lines.empty() && IsBlank(lines.back())) lines.pop_back();
    while (!lines.empty() && IsBlank(lines.front())) lines.erase(lines.begin());
    Dedent(lines);
  }
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) text += '\n';
    text += lines[i];
  }
  return text;
}

}  // namespace cellar::host
