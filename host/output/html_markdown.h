// HTML of a display turned into markdown, for a reader who sees text only. It keeps what carries
// meaning (headings, lists, tables, links, code, emphasis) and drops the looks.
#pragma once

#include <string>
#include <string_view>

namespace cellar::host {

// Any bytes are taken. Of a large document only the start is read, and one that is too complex to
// be read in reasonable time is not; the text says so. The result is valid UTF-8, but a character
// reference may have put control characters into it: see Printable.
std::string HtmlToMarkdown(std::string_view html);

}  // namespace cellar::host
