#include "host/session/jobs.h"

#include "absl/strings/str_cat.h"
#include "host/session/session.h"
#include "host/wire/frame.h"

namespace cellar::host {
namespace {

constexpr size_t kMaxData = wire::kMaxFramePayload - (1u << 20);

}  // namespace

void Fail(Job job, const absl::Status& status) {
  std::visit([&](auto& failed) { failed.done(status); }, job);
}

absl::Status CheckFits(size_t bytes) {
  if (bytes <= kMaxData) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(bytes >> 20, " MiB are more than a message to a worker can hold"));
}

}  // namespace cellar::host
