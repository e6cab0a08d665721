// How a file is written: its whitespace, escapes and order of keys. Whatever cellar adds to the
// file is written alike. Found by looking at what is there; a file with nothing to look at gets
// nbformat's own style.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "notebook/document.h"
#include "notebook/json_string.h"
#include "notebook/span.h"

namespace cellar::notebook {

// What stands between the brackets of a container around its items: whitespace, and a comma in
// `between`.
struct Gaps {
  std::string open;
  std::string between;
  std::string close;
};

struct Style {
  Escapes escapes;
  std::string colon;  // between a key and its value
  Gaps cells;         // of a list of cells
  Gaps members;       // of a cell
  Gaps lines;         // of a source list
  std::string unit;   // what a line is indented by at each level; empty in a file of one line
  std::string empty_list;
  std::string empty_object;
  bool string_sources = false;  // sources are strings rather than lists of lines
  // Keys of the first cell with and without outputs, in their order; empty if there is none.
  std::vector<std::string> code_keys;
  std::vector<std::string> text_keys;
};

Style DetectStyle(const Document& document);

// The gaps of a container in a cell: level 0 is the value of a member, level 1 what stands in that.
Gaps GapsInCell(const Style& style, int level);

// The gaps of `container`, which has at least two items.
Gaps GapsOf(std::string_view bytes, Span container, std::span<const Span> items);

}  // namespace cellar::notebook
