// What stands in a cell's metadata: tags read, single members set. The rest of it stays as it is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "notebook/document.h"
#include "notebook/style.h"

namespace cellar::notebook {

bool HasTag(const Document& document, size_t cell, std::string_view tag);

// The cell's metadata with member `key` set to the JSON value `json`, in the style of the file.
std::string MetadataWith(const Document& document, size_t cell, std::string_view key,
                         std::string_view json, const Style& style);

}  // namespace cellar::notebook
