#include "notebook/percent_code.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace cellar::notebook {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kComment = "# ";

// Shell commands that IPython runs without a `%` in front.
constexpr std::array<std::string_view, 13> kBareCommands = {
    "cat", "cd", "copy", "cp", "ddir", "echo", "ldir", "ls", "mkdir", "mv", "ren", "rm", "rmdir"};

bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

size_t BlanksAt(std::string_view text) {
  return std::min(text.find_first_not_of(kBlanks), text.size());
}

void SkipBlanks(std::string_view* text) { text->remove_prefix(BlanksAt(*text)); }

bool IsBareCommand(std::string_view code) {
  for (std::string_view command : kBareCommands) {
    if (!code.starts_with(command)) continue;
    std::string_view rest = code.substr(command.size());
    if (rest.empty()) return true;
    if (BlanksAt(rest) == 0) continue;
    SkipBlanks(&rest);
    return rest.empty() || (rest[0] != '=' && rest[0] != ',');
  }
  return false;
}

// `x = !ls`, `a, b = %magic`
bool IsMagicAssignment(std::string_view code) {
  const size_t equals = code.find('=');
  if (equals == 0 || equals == std::string_view::npos) return false;
  const bool is_target = std::all_of(code.begin(), code.begin() + equals, [](char c) {
    return IsNameStart(c) || (c >= '0' && c <= '9') || kBlanks.find(c) != std::string_view::npos ||
           c == ',' || c == '.';
  });
  std::string_view value = code.substr(equals + 1);
  SkipBlanks(&value);
  if (!is_target || value.size() < 2) return false;
  return (value[0] == '!' && value[1] != '=') || (value[0] == '%' && IsNameStart(value[1]));
}

// `name?`, `module.name??`
bool IsHelpRequest(std::string_view code) {
  while (!code.empty() && kBlanks.find(code.back()) != std::string_view::npos)
    code.remove_suffix(1);
  return code.size() > 1 && code.back() == '?' &&
         code.find_first_of(kBlanks) == std::string_view::npos;
}

bool IsMagic(std::string_view code) {
  if (code.empty()) return false;
  if (code[0] == '!' || code[0] == '?') return true;
  if (code[0] == '%') return code.size() > 1 && (code[1] == '%' || IsNameStart(code[1]));
  return IsMagicAssignment(code) || IsHelpRequest(code) || IsBareCommand(code);
}

// Takes the `#`s and the blanks among them off the front; true if there were any.
bool SkipComments(std::string_view* text) {
  bool skipped = false;
  while (text->starts_with('#')) {
    text->remove_prefix(1);
    SkipBlanks(text);
    skipped = true;
  }
  return skipped;
}

// True if `line` is a magic or a cell start, or a comment that one step of uncommenting might take
// for one.
bool NeedsComment(std::string_view line) {
  SkipBlanks(&line);
  const bool is_comment = SkipComments(&line);
  return IsMagic(line) ||
         (is_comment && (line.starts_with("In[") || line.starts_with("<codecell>")));
}

// True if `line`, made a comment, might be taken for the start of a cell.
bool LooksLikeCellStart(std::string_view line) {
  SkipBlanks(&line);
  SkipComments(&line);
  return IsCellStart("#" + std::string(line));
}

bool IsLiveMagic(std::string_view line) {
  SkipBlanks(&line);
  return IsMagic(line);
}

std::string InsertComment(std::string_view line, size_t at) {
  std::string commented(line.substr(0, at));
  commented += kComment;
  commented += line.substr(at);
  return commented;
}

}  // namespace

bool IsCellStart(std::string_view line) {
  SkipBlanks(&line);
  if (!line.starts_with('#')) return false;
  line.remove_prefix(1);
  SkipBlanks(&line);
  if (!line.starts_with("%%")) return false;
  line.remove_prefix(std::min(line.find_first_not_of('%'), line.size()));
  return line.empty() || BlanksAt(line) > 0;
}

void QuoteTracker::Read(std::string_view line) {
  size_t pos = 0;
  char single = '\0';
  while (pos < line.size()) {
    const char c = line[pos];
    if (c == '\\') {
      pos += 2;
      continue;
    }
    const bool is_quote = c == '"' || c == '\'';
    const bool is_triple = is_quote && line.substr(pos, 3) == std::string(3, c);
    if (in_string()) {
      if (is_triple && c == quote_) {
        quote_ = '\0';
        pos += 2;
      }
    } else if (single != '\0') {
      if (c == single) single = '\0';
    } else if (is_triple) {
      quote_ = c;
      pos += 2;
    } else if (is_quote) {
      single = c;
    } else if (c == '#') {
      return;
    }
    ++pos;
  }
}

std::string CodeLines::ToScript(std::string_view line) {
  std::string script(line);
  if (continues_magic_) {
    script = InsertComment(line, 0);
  } else if (!quotes_.in_string() && NeedsComment(line)) {
    script = InsertComment(line, BlanksAt(line));
  }
  Read(line);
  return script;
}

std::string CodeLines::FromScript(std::string_view line) {
  const size_t at = continues_magic_ ? 0 : BlanksAt(line);
  std::string original(line);
  if (line.substr(at).starts_with(kComment)) {
    const std::string_view rest = line.substr(at + kComment.size());
    // What ToScript comments starts with its first `#` or letter, so a blank here was in the
    // comment before.
    const bool is_ours = !quotes_.in_string() && BlanksAt(rest) == 0 && NeedsComment(rest);
    if (continues_magic_ || is_ours) original.erase(at, kComment.size());
  }
  Read(original);
  return original;
}

void CodeLines::Read(std::string_view line) {
  const bool is_magic = continues_magic_ || (!quotes_.in_string() && IsLiveMagic(line));
  if (!is_magic) quotes_.Read(line);
  continues_magic_ = is_magic && line.ends_with('\\');
}

std::string TextLineToScript(std::string_view line) {
  if (line.empty()) return "#";
  std::string script(kComment);
  if (LooksLikeCellStart(line)) script += kComment;
  return script += line;
}

std::string TextLineFromScript(std::string_view line) {
  if (line == "#") return "";
  if (!line.starts_with(kComment)) return std::string(line);
  line.remove_prefix(kComment.size());
  const bool is_ours =
      line.starts_with(kComment) && LooksLikeCellStart(line.substr(kComment.size()));
  return std::string(is_ours ? line.substr(kComment.size()) : line);
}

}  // namespace cellar::notebook
