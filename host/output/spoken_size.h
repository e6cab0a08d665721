// An amount of data as people and models read it.
#pragma once

#include <cstdint>
#include <string>

namespace cellar::host {

// "1 byte", "12 KB", "3.0 MB".
std::string SpokenSize(uint64_t bytes);

}  // namespace cellar::host
