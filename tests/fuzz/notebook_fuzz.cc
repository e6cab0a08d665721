// Bytes as a notebook, as edited text and as a script. Build with the fuzz preset, then for example
//   build-fuzz/tests/notebook_fuzz -max_total_time=60 -max_len=4096 some/folder
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/notebook/try_everything.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cellar::notebook::TryEverything(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
