// A request is either refused with words that can be shown, or it is a call that can be run.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "host/eval/call_parser.h"
#include "tests/testing/valid_utf8.h"

namespace {

using cellar::host::Call;
using cellar::host::CallCell;

void Require(bool condition) {
  if (!condition) std::abort();
}

void RequireRunnable(const Call& call) {
  Require(!call.cells.empty());
  for (size_t i = 0; i < call.cells.size(); ++i) {
    const CallCell& cell = call.cells[i];
    Require(cellar::host::ValidateCell(cell, i).ok());
    Require(cell.timeout == absl::ZeroDuration() ||
            (cell.timeout >= absl::Seconds(1) && cell.timeout <= absl::Hours(1)));
  }
  for (const cellar::wire::EnvironmentEntry& entry : call.environment) {
    Require(!entry.name.empty() && entry.name.find('=') == entry.name.npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<Call> call = cellar::host::ParseCall(text);
  if (call.ok()) {
    RequireRunnable(*call);
  } else {
    Require(absl::IsInvalidArgument(call.status()));
    Require(!call.status().message().empty());
    Require(cellar::host::IsValidUtf8(std::string(call.status().message())));
  }
  return 0;
}
