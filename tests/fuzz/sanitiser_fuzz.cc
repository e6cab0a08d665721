// The text is safe and does not depend on the chunking. The first byte of the input says how it is
// cut.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "host/output/printable.h"
#include "host/output/sanitiser.h"
#include "tests/testing/valid_utf8.h"

namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

std::string Sanitised(std::string_view bytes, size_t chunk) {
  cellar::host::Sanitiser sanitiser;
  std::string text;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(chunk, bytes.size()))) {
    sanitiser.Write(bytes.substr(0, chunk), &text);
  }
  sanitiser.Finish(&text);
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string text = Sanitised(bytes, bytes.size() + 1);
  Require(text == Sanitised(bytes, data[0] % 16 + 1));
  Require(text == Sanitised(text, text.size() + 1));
  Require(cellar::host::IsValidUtf8(text));
  Require(std::count(text.begin(), text.end(), '\n') ==
          std::count(bytes.begin(), bytes.end(), '\n'));
  Require(cellar::host::IsValidUtf8(cellar::host::Printable(bytes)));
  return 0;
}
