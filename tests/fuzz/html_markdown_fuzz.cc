// Any bytes give bounded, valid text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "host/output/html_markdown.h"
#include "tests/testing/valid_utf8.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string markdown =
      cellar::host::HtmlToMarkdown(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!cellar::host::IsValidUtf8(markdown) || markdown.size() > 300'000) std::abort();
  return 0;
}
