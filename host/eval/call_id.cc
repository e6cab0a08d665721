#include "host/eval/call_id.h"

#include <random>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace cellar::host {
namespace {

// "call-3fa9-". The digits are this process's own: who has a handle of a daemon that has ended must
// not hit a call of the next one.
const std::string& HandlePrefix() {
  static const std::string prefix =
      absl::StrCat("call-", absl::Hex(std::random_device()() & 0xffffu, absl::kZeroPad4), "-");
  return prefix;
}

}  // namespace

std::string HandleOf(CallId id) { return absl::StrCat(HandlePrefix(), id); }

absl::StatusOr<CallId> CallOf(std::string_view handle) {
  CallId id = 0;
  if (!handle.starts_with(HandlePrefix()) ||
      !absl::SimpleAtoi(std::string(handle.substr(HandlePrefix().size())), &id) || id == 0) {
    return NoSuchCall(handle);
  }
  return id;
}

absl::Status NoSuchCall(std::string_view handle) {
  return absl::NotFoundError(
      absl::StrCat("there is no call ", std::string(handle), ", or its result is no longer kept"));
}

}  // namespace cellar::host
