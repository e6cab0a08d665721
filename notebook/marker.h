// The marker lines of the text view, and the escaping of source lines that look like one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "notebook/cell.h"

namespace cellar::notebook {

// A line of the form `# %% [word]` or `# %% [word] cell:N`, with two or more `%`; blanks at its end
// do not count.
struct Marker {
  size_t percents = 0;
  std::optional<CellType> type;  // none: the marker of an outputs block
  std::optional<uint32_t> origin;
};

// `line` is without its newline.
std::optional<Marker> ParseMarker(std::string_view line);

// True if the line is no marker and was perhaps meant for one: `# %%`, `#%% [code]`, or a marker
// with something behind it. Such a line is part of a source.
bool IsNearMarker(std::string_view line);

// Without cell:N where there is no number.
std::string CellMarker(CellType type, std::optional<size_t> number);
std::string OutputsMarker(std::optional<size_t> number);

// Adds a `%` to every line of `source` that looks like a marker and appends the result to `out`.
void AppendEscaped(std::string_view source, std::string* out);
// Takes it away again.
std::string Unescaped(std::string_view body);

}  // namespace cellar::notebook
