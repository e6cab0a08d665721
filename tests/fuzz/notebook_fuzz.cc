// Bytes as a notebook, as edited text and as a script.
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/testing/try_everything.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cellar::notebook::TryEverything(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
