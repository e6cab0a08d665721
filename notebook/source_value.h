// The source of a cell as a JSON value. Lines that stay keep their bytes, so that a change of one
// line of a cell is a change of one line of the file.
#pragma once

#include <string>
#include <string_view>

#include "notebook/cell.h"
#include "notebook/span.h"
#include "notebook/style.h"

namespace cellar::notebook {

// A list of lines with their newlines (or a string, if all sources of the file are); "[]" for no
// text.
std::string NewSource(std::string_view source, const Style& style);

// `source` in the form of the value at `old`, which may be empty (a cell without one).
std::string ChangedSource(std::string_view bytes, Span old, std::string_view source, Layout layout,
                          const Style& style);

}  // namespace cellar::notebook
