#include "host/repl/python_tokens.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "host/base/python_keywords.h"

namespace cellar::host {
namespace {

// Sorted, for binary search.
constexpr std::array<std::string_view, 72> kBuiltins = {
    "BaseException", "Exception", "abs",        "aiter",     "all",
    "anext",         "any",       "ascii",      "bin",       "bool",
    "breakpoint",    "bytearray", "bytes",      "callable",  "chr",
    "classmethod",   "compile",   "complex",    "delattr",   "dict",
    "dir",           "display",   "divmod",     "enumerate", "eval",
    "exec",          "filter",    "float",      "format",    "frozenset",
    "getattr",       "globals",   "hasattr",    "hash",      "help",
    "hex",           "id",        "input",      "int",       "isinstance",
    "issubclass",    "iter",      "len",        "list",      "locals",
    "map",           "max",       "memoryview", "min",       "next",
    "object",        "oct",       "open",       "ord",       "pow",
    "print",         "property",  "range",      "repr",      "reversed",
    "round",         "set",       "setattr",    "slice",     "sorted",
    "staticmethod",  "str",       "sum",        "super",     "tuple",
    "type",          "zip"};

static_assert(std::ranges::is_sorted(kBuiltins));

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
// Every byte of a character beyond ASCII may be part of a name.
bool IsName(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool IsSpace(char c) { return c == ' ' || c == '\t'; }

bool IsStringPrefix(std::string_view word) {
  return word.size() <= 2 && word.find_first_not_of("rRbBuUfF") == std::string_view::npos;
}

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view source) : source_(source) {}

  // `offset` is added to the places of the tokens: that of an expression inside an f-string.
  void Run(size_t offset, std::vector<Token>* tokens) {
    offset_ = offset;
    tokens_ = tokens;
    while (at_ < source_.size()) Step();
  }

 private:
  void Step() {
    const char c = source_[at_];
    if (c == '\n') {
      starts_line_ = true;
      ++at_;
    } else if (IsSpace(c)) {
      ++at_;
    } else {
      const bool starts_line = std::exchange(starts_line_, false) && depth_ == 0;
      if (!TakeMagic(c, starts_line)) TakeToken(c, starts_line);
    }
  }

  // Magics are no Python: outside of brackets a `%` at the start of a line, a `!` that is not `!=`
  // and a `?` are theirs.
  bool TakeMagic(char c, bool starts_line) {
    if (depth_ > 0 || offset_ > 0) return false;
    size_t end = at_;
    if (c == '%' && starts_line) {
      end = std::min(source_.find_first_not_of('%', at_), source_.size());
      while (end < source_.size() && IsName(source_[end])) ++end;
    } else if (c == '!' && source_.substr(at_, 2) != "!=") {
      end = LineEnd();
    } else if (c == '?') {
      end = at_ + 1;
    } else {
      return false;
    }
    Add(end, TokenKind::kMagic);
    return true;
  }

  void TakeToken(char c, bool starts_line) {
    if (c == '#') return Add(LineEnd(), TokenKind::kComment);
    if (c == '"' || c == '\'') return TakeString(at_, /*formatted=*/false, /*raw=*/false);
    if (IsDigit(c) || (c == '.' && at_ + 1 < source_.size() && IsDigit(source_[at_ + 1]))) {
      return TakeNumber();
    }
    if (IsName(c)) return TakeName();
    if (c == '@' && starts_line) return TakeDecorator();
    if (c == '(' || c == '[' || c == '{') ++depth_;
    if ((c == ')' || c == ']' || c == '}') && depth_ > 0) --depth_;
    after_definition_ = false;
    after_dot_ = c == '.';
    ++at_;
  }

  void TakeName() {
    size_t end = at_;
    while (end < source_.size() && IsName(source_[end])) ++end;
    const std::string_view word = source_.substr(at_, end - at_);
    if (end < source_.size() && (source_[end] == '"' || source_[end] == '\'') &&
        IsStringPrefix(word)) {
      const bool formatted = word.find_first_of("fF") != std::string_view::npos;
      const bool raw = word.find_first_of("rR") != std::string_view::npos;
      return TakeString(end, formatted, raw);
    }
    const bool after_dot = std::exchange(after_dot_, false);
    const bool after_definition = std::exchange(after_definition_, false);
    if (after_dot) {
      at_ = end;  // an attribute, whatever its name
    } else if (IsPythonKeyword(word)) {
      after_definition_ = word == "def" || word == "class";
      Add(end, TokenKind::kKeyword);
    } else if (after_definition) {
      Add(end, TokenKind::kDefinition);
    } else if (std::ranges::binary_search(kBuiltins, word)) {
      Add(end, TokenKind::kBuiltin);
    } else {
      at_ = end;
    }
  }

  // 0x1F, 1_000, 1.5e-3, 2j
  void TakeNumber() {
    size_t end = at_;
    const bool hex = source_.substr(at_, 2) == "0x" || source_.substr(at_, 2) == "0X";
    while (end < source_.size()) {
      const char c = source_[end];
      const char before = end > at_ ? source_[end - 1] : '\0';
      const bool exponent_sign = (c == '+' || c == '-') && !hex && (before == 'e' || before == 'E');
      if (!IsName(c) && c != '.' && !exponent_sign) break;
      ++end;
    }
    after_dot_ = false;
    Add(end, TokenKind::kNumber);
  }

  void TakeDecorator() {
    size_t end = at_ + 1;
    while (end < source_.size() && (IsName(source_[end]) || source_[end] == '.')) ++end;
    Add(end, TokenKind::kDecorator);
  }

  // From the prefix at at_; `quote` is where the first quote is.
  void TakeString(size_t quote, bool formatted, bool raw) {
    const std::string triple(3, source_[quote]);
    const bool is_triple = source_.substr(quote, 3) == triple;
    const std::string_view mark = std::string_view(triple).substr(0, is_triple ? 3 : 1);
    const size_t body = quote + mark.size();
    size_t end = body;
    while (end < source_.size() && source_.substr(end, mark.size()) != mark) {
      if (source_[end] == '\n' && !is_triple) break;
      end += source_[end] == '\\' ? 2 : 1;
    }
    end = std::min(end, source_.size());
    const size_t body_end = end;
    if (source_.substr(end, mark.size()) == mark) end += mark.size();
    after_dot_ = false;
    if (formatted) {
      TakeReplacements(body, body_end, raw);
    }
    Add(end, TokenKind::kString);
  }

  // The expressions in an f-string's braces are code; the format after a colon is text.
  void TakeReplacements(size_t from, size_t end, bool raw) {
    while (from < end) {
      if (source_[from] == '\\' && !raw) {
        from += 2;
        continue;
      }
      if (source_[from] != '{') {
        ++from;
        continue;
      }
      if (source_.substr(from, 2) == "{{") {
        from += 2;
        continue;
      }
      const size_t expression_end = ExpressionEnd(from + 1, end);
      Add(from + 1, TokenKind::kString);
      std::string_view expression = source_.substr(at_, expression_end - at_);
      Tokenizer(expression).Run(offset_ + at_, tokens_);
      at_ = from = expression_end;
    }
  }

  size_t ExpressionEnd(size_t from, size_t end) const {
    int depth = 0;
    for (; from < end; ++from) {
      const char c = source_[from];
      if (c == '(' || c == '[' || c == '{') ++depth;
      if (depth == 0 && (c == '}' || c == ':')) break;
      if (depth == 0 && c == '!' && source_.substr(from, 2) != "!=") break;
      if (c == ')' || c == ']' || c == '}') --depth;
    }
    return from;
  }

  size_t LineEnd() const { return std::min(source_.find('\n', at_), source_.size()); }

  void Add(size_t end, TokenKind kind) {
    if (end > at_) tokens_->push_back({offset_ + at_, offset_ + end, kind});
    at_ = end;
  }

  std::string_view source_;
  size_t offset_ = 0;
  std::vector<Token>* tokens_ = nullptr;
  size_t at_ = 0;
  int depth_ = 0;  // of brackets
  bool starts_line_ = true;
  bool after_definition_ = false;
  bool after_dot_ = false;
};

}  // namespace

std::vector<Token> FindTokens(std::string_view source) {
  std::vector<Token> tokens;
  Tokenizer(source).Run(0, &tokens);
  return tokens;
}

}  // namespace cellar::host
