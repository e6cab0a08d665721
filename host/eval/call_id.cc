#include "host/eval/call_id.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace cellar::host {
namespace {

constexpr std::string_view kHandlePrefix = "call-";

}  // namespace

std::string HandleOf(CallId id) { return absl::StrCat(std::string(kHandlePrefix), id); }

absl::StatusOr<CallId> CallOf(std::string_view handle) {
  CallId id = 0;
  if (!handle.starts_with(kHandlePrefix) ||
      !absl::SimpleAtoi(std::string(handle.substr(kHandlePrefix.size())), &id) || id == 0) {
    return NoSuchCall(handle);
  }
  return id;
}

absl::Status NoSuchCall(std::string_view handle) {
  return absl::NotFoundError(
      absl::StrCat("there is no call ", std::string(handle), ", or its result is no longer kept"));
}

}  // namespace cellar::host
