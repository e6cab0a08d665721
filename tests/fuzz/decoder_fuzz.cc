#include "tests/testing/decoder_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cellar::DecodeAnything(data, size);
  return 0;
}
