// The comment block at the top of a py:percent script that holds what belongs to the notebook as a
// whole. It is YAML, written with JSON values; of YAML written by others the block mappings of
// plain values are understood.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "notebook/document.h"

namespace cellar::notebook {

struct PercentHeader {
  std::string metadata = "{}";  // a JSON object
  // The other members of the notebook's top object but its cells; empty in a script that cellar did
  // not write.
  std::string top;
};

std::string WriteHeader(const Document& document);
// Takes the header, if there is one, off the front of `lines`.
PercentHeader TakeHeader(std::vector<std::string_view>* lines);

}  // namespace cellar::notebook
