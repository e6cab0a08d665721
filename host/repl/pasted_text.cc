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

// Takes "...:" off. How many dots there are depends on the cell's number.
bool TakeDots(std::string_view* line) {
  const size_t dots = std::min(line->find_first_not_of('.'), line->size());
  if (dots < 3 || !line->substr(dots).starts_with(':')) return false;
  line->remove_prefix(dots + 1);
  return true;
}

// Takes ">>>" or "..." off, which output may begin with too: a prompt ends with a blank or the
// line.
bool TakeSign(std::string_view sign, std::string_view* line) {
  if (!line->starts_with(sign)) return false;
  const std::string_view rest = line->substr(sign.size());
  if (!rest.empty() && rest[0] != ' ') return false;
  *line = rest;
  return true;
}

// Whose prompts the lines have.
enum class Prompts { kNone, kPython, kIPython };

// Takes the prompt off that a cell begins with, or goes on with; a transcript may be indented.
bool TakePrompt(Prompts prompts, bool goes_on, std::string_view* line) {
  std::string_view rest = line->substr(std::min(line->find_first_not_of(kBlank), line->size()));
  const bool found = prompts == Prompts::kPython ? TakeSign(goes_on ? "..." : ">>>", &rest)
                     : goes_on                   ? TakeDots(&rest)
                                                 : TakeNumbered("In [", &rest);
  if (!found) return false;
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  *line = rest;
  return true;
}

bool IsResult(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
  return TakeNumbered("Out[", &line);
}

Prompts PromptsOf(std::string_view first_line) {
  for (Prompts prompts : {Prompts::kPython, Prompts::kIPython}) {
    if (TakePrompt(prompts, /*goes_on=*/false, &first_line)) return prompts;
  }
  return Prompts::kNone;
}

// What stands behind the prompts; all else is output. But where a notebook was copied from a page,
// `In [1]:` has a line of its own, and the cell under it has no prompts.
std::vector<std::string> CodeIn(const std::vector<std::string>& lines, Prompts prompts) {
  enum { kOutput, kCode, kBareCode } place = kOutput;
  std::vector<std::string> code;
  for (std::string_view line : lines) {
    if (TakePrompt(prompts, /*goes_on=*/false, &line)) {
      place = prompts == Prompts::kIPython && IsBlank(line) ? kBareCode : kCode;
    } else if (place != kOutput && TakePrompt(prompts, /*goes_on=*/true, &line)) {
      place = kCode;
    } else if (place != kBareCode || IsResult(line)) {
      place = kOutput;
      continue;
    }
    code.emplace_back(line);
  }
  return code;
}

void StripPrompts(std::vector<std::string>& lines) {
  auto first = std::ranges::find_if(lines, [](const std::string& line) { return !IsBlank(line); });
  if (first == lines.end()) return;
  const Prompts prompts = PromptsOf(*first);
  if (prompts != Prompts::kNone) lines = CodeIn(lines, prompts);
}

// By what all lines begin with, tabs or spaces; a blank one may have less of it.
void Dedent(std::vector<std::string>& lines) {
  std::optional<std::string> shared;
  for (const std::string& line : lines) {
    if (IsBlank(line)) continue;
    if (!shared) shared = line.substr(0, line.find_first_not_of(kBlank));
    shared->erase(std::ranges::mismatch(*shared, line).in1, shared->end());
  }
  for (std::string& line : lines) line.erase(0, shared.value_or("").size());
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
