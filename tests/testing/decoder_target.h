// What the fuzzer and the corpus test do with an input: everything the host does with bytes from a
// worker.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cellar {
void DecodeAnything(const uint8_t* data, size_t size);
}
