#include "host/repl/completeness.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"

namespace cellar::host {
namespace {

constexpr std::string_view kSpace = " \t";

// Walks over Python source, knowing strings, comments, brackets, and lines that are not Python.
class Scanner {
 public:
  explicit Scanner(std::string_view source) : source_(source) {}

  void Run() {
    while (at_ < source_.size()) Step();
  }

  bool open() const { return depth_ > 0 || unclosed_string_ || continued_; }
  bool opens_block() const { return opens_block_; }

 private:
  void Step() {
    char c = source_[at_];
    // A statement at the margin ends the block before it.
    if (depth_ == 0 && !continued_ && (at_ == 0 || source_[at_ - 1] == '\n') &&
        std::string_view(" \t\n#").find(c) == std::string_view::npos) {
      opens_block_ = BeginsTry(at_);
    }
    if ((c == '!' || c == '%') && depth_ == 0 && BeginsCommand(at_)) return SkipCommand();
    continued_ = false;
    switch (c) {
      case '#':
        at_ = std::min(source_.find('\n', at_), source_.size());
        return;
      case '\'':
      case '"':
        return SkipString(c);
      case '\\':
        continued_ = at_ + 1 >= source_.size() || source_.substr(at_ + 1) == "\n";
        at_ += 2;
        return;
      case '(':
      case '[':
      case '{':
        ++depth_;
        break;
      case ')':
      case ']':
      case '}':
        --depth_;
        break;
      case ':':
        opens_block_ |= depth_ == 0 && EndsLine(at_ + 1);
        break;
      case '@':
        opens_block_ |= depth_ == 0 && BeginsLine(at_);
        break;
    }
    ++at_;
  }

  void SkipString(char quote) {
    std::string triple(3, quote);
    bool is_triple = source_.substr(at_, 3) == triple;
    at_ += is_triple ? 3 : 1;
    while (at_ < source_.size()) {
      if (source_[at_] == '\\') {
        at_ += 2;
      } else if (is_triple && source_.substr(at_, 3) == triple) {
        at_ += 3;
        return;
      } else if (!is_triple && (source_[at_] == quote || source_[at_] == '\n')) {
        ++at_;  // an unclosed one-line string is an error that the worker reports
        return;
      } else {
        ++at_;
      }
    }
    unclosed_string_ = is_triple;
  }

  // A command of the shell, or a magic, has no brackets or strings of Python's.
  void SkipCommand() {
    do {
      at_ = std::min(source_.find('\n', at_), source_.size() - 1) + 1;
      continued_ = at_ >= 2 && source_.substr(at_ - 2, 2) == "\\\n";
    } while (continued_ && at_ < source_.size());
  }

  // Nothing but white space or a comment up to the end of the line.
  bool EndsLine(size_t at) const {
    at = std::min(source_.find_first_not_of(kSpace, at), source_.size());
    return at == source_.size() || source_[at] == '\n' || source_[at] == '#';
  }

  // `try: x = 1` is no statement without what follows.
  bool BeginsTry(size_t at) const {
    if (!source_.substr(at).starts_with("try")) return false;
    at = source_.find_first_not_of(kSpace, at + 3);
    return at != std::string_view::npos && source_[at] == ':';
  }

  bool BeginsLine(size_t at) const {
    size_t start = source_.rfind('\n', at);
    start = start == std::string_view::npos ? 0 : start + 1;
    return source_.substr(start, at - start).find_first_not_of(kSpace) == std::string_view::npos;
  }

  // At the beginning of a statement, or assigned: `x = !ls`. After a backslash it is an operator.
  bool BeginsCommand(size_t at) const {
    const size_t before = source_.substr(0, at).find_last_not_of(kSpace);
    if (before == std::string_view::npos || source_[before] == '=') return true;
    return source_[before] == '\n' && (before == 0 || source_[before - 1] != '\\');
  }

  std::string_view source_;
  size_t at_ = 0;
  int depth_ = 0;
  bool unclosed_string_ = false;
  bool continued_ = false;
  bool opens_block_ = false;
};

// `%%bash`, `%%time`: all of the cell belongs to the magic.
bool IsCellMagic(std::string_view source) {
  source.remove_prefix(std::min(source.find_first_not_of(" \t\n"), source.size()));
  return source.size() > 2 && source.starts_with("%%") &&
         (absl::ascii_isalpha(static_cast<unsigned char>(source[2])) || source[2] == '_');
}

bool EndsInBlankLine(std::string_view source) {
  const size_t last = source.ends_with('\n') ? source.size() - 1 : source.size();
  size_t start = last == 0 ? 0 : source.rfind('\n', last - 1);
  start = start == std::string_view::npos ? 0 : start + 1;
  return source.substr(start, last - start).find_first_not_of(kSpace) == std::string_view::npos;
}

}  // namespace

// A block ends with a blank line, as at Python's own prompt.
bool NeedsMoreLines(std::string_view source) {
  if (IsCellMagic(source)) return !EndsInBlankLine(source);
  Scanner scanner(source);
  scanner.Run();
  if (scanner.open()) return true;
  return scanner.opens_block() && !EndsInBlankLine(source);
}

}  // namespace cellar::host
