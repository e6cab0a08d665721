// An amount of data as people and models read it.
#pragma once

#include <cstdint>
#include <string>

namespace cellar::host {

// "1 byte", "12 KiB", "3.0 MiB", "1.5 GiB".
std::string SpokenSize(uint64_t bytes);

}  // namespace cellar::host
