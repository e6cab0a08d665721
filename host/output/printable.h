// One-shot strings from a worker or a file (names, titles, tracebacks, display text, sources) made
// safe to show.
#pragma once

#include <string>
#include <string_view>

namespace cellar::host {

// `text` as the Sanitiser would give it, except that carriage returns and backspaces are taken out
// and not applied: in a name or a message they would only hide part of it. Newlines and tabs stay.
std::string Printable(std::string_view text);

// `text` with nothing taken out: unwanted characters are written as \uXXXX, invalid UTF-8 is
// replaced. JSON means the same afterwards.
std::string WithUnwantedEscaped(std::string_view text);

}  // namespace cellar::host
