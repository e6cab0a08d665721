// Finds what is worth colouring in Python source that is still being typed. Knows how tokens look
// and nothing of grammar, so that half a statement is coloured as well as a whole one.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace cellar::host {

enum class TokenKind {
  kKeyword,
  kBuiltin,
  kDefinition,  // the name after def and class
  kString,
  kNumber,
  kComment,
  kDecorator,
  kMagic,  // %name, !command, name?
};

struct Token {
  size_t begin;  // bytes
  size_t end;
  TokenKind kind;

  bool operator==(const Token&) const = default;
};

// In the order of the text, without overlaps; what is in none of them is plain.
std::vector<Token> FindTokens(std::string_view source);

}  // namespace cellar::host
