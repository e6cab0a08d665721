// The bytes of a client, in chunks: every line is a request, or is refused with words that can be
// sent; how the bytes are cut makes no difference.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "host/serve/frame.h"
#include "host/serve/line_splitter.h"
#include "host/serve/request.h"
#include "nlohmann/json.hpp"

namespace {

constexpr size_t kMaxLine = 1024;

void Require(bool condition) {
  if (!condition) std::abort();
}

std::vector<std::string> LinesOf(std::string_view bytes, size_t chunk) {
  cellar::host::LineSplitter splitter(kMaxLine);
  std::vector<std::string> lines;
  while (!bytes.empty()) {
    splitter.Write(
        bytes.substr(0, chunk), [&](std::string_view line) { lines.emplace_back(line); },
        [&] { lines.emplace_back("too long"); });
    bytes.remove_prefix(std::min(chunk, bytes.size()));
  }
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> lines = LinesOf(bytes, size + 1);
  Require(lines == LinesOf(bytes, 1 + size % 7));
  for (const std::string& line : lines) {
    cellar::host::RequestId id;
    const absl::StatusOr<cellar::host::Request> request = cellar::host::ParseRequest(line, id);
    if (request.ok()) continue;
    const std::string frame = cellar::host::RefusedFrame(id, request.status());
    Require(nlohmann::json::parse(frame, nullptr, /*allow_exceptions=*/false).is_object());
  }
  return 0;
}
