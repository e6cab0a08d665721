// JSON strings and the text they stand for. A lone surrogate escape becomes its three bytes of
// generalised UTF-8 and comes back as the escape, so that no text is lost on the way.
#pragma once

#include <string>
#include <string_view>

namespace cellar::notebook {

// How a file spells what it could also write raw.
struct Escapes {
  bool ascii = false;      // é as \u00e9
  bool html = false;       // < > & as \u003c \u003e \u0026
  bool upper_hex = false;  // \u001B rather than \u001b
};

// Appends the text of the quoted string `json` to `out`. The string must have been scanned before.
void AppendDecoded(std::string_view json, std::string* out);
std::string Decoded(std::string_view json);
// True if the quoted string `json` stands for `text`.
bool StandsFor(std::string_view json, std::string_view text);

// Appends `text` as a quoted string. Bytes that are not encodable become U+FFFD.
void AppendQuoted(std::string_view text, Escapes escapes, std::string* out);
std::string Quoted(std::string_view text, Escapes escapes);

// UTF-8, in which surrogates are let through.
bool IsEncodable(std::string_view text);

}  // namespace cellar::notebook
