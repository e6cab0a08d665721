#include "host/repl/highlight.h"

#include <unistd.h>

#include "host/console/colours.h"
#include "host/console/terminal.h"
#include "host/output/printable.h"

namespace cellar::host {

std::string_view ColourOf(TokenKind kind) {
  switch (kind) {
    case TokenKind::kKeyword:
      return "\x1b[35m";
    case TokenKind::kBuiltin:
      return "\x1b[36m";
    case TokenKind::kDefinition:
      return "\x1b[1;34m";
    case TokenKind::kString:
      return "\x1b[32m";
    case TokenKind::kNumber:
    case TokenKind::kDecorator:
      return "\x1b[33m";
    case TokenKind::kComment:
      return "\x1b[90m";
    case TokenKind::kMagic:
      return "\x1b[1;33m";
  }
  return kReset;
}

std::string Highlight(std::string_view source) {
  std::string text;
  size_t at = 0;
  for (const Token& token : FindTokens(source)) {
    text += source.substr(at, token.begin - at);
    text += Coloured(source.substr(token.begin, token.end - token.begin), ColourOf(token.kind));
    at = token.end;
  }
  text += source.substr(at);
  return text;
}

std::string ShownSource(std::string_view source) {
  const std::string text = Printable(source);
  return WantsColour(STDOUT_FILENO) ? Highlight(text) : text;
}

}  // namespace cellar::host
