#include "host/serve/room.h"

#include "absl/strings/str_cat.h"

namespace cellar::host {
namespace {

constexpr size_t kMaxRequests = 20'000;  // as many as may wait for one session
constexpr size_t kMaxBytes = size_t{256} << 20;

}  // namespace

// The code is that of Busy, see RefusalName.
absl::Status Room::Check(size_t bytes) const {
  if (requests_ >= kMaxRequests) {
    return absl::DeadlineExceededError(
        absl::StrCat(requests_, " requests of this client are under way, as many as may be"));
  }
  if (bytes_ + bytes > kMaxBytes) {
    return absl::DeadlineExceededError(
        absl::StrCat("the requests of this client that are under way have ", bytes_,
                     " bytes, and with this one they would have more than ", kMaxBytes));
  }
  return absl::OkStatus();
}

void Room::Take(size_t bytes) {
  ++requests_;
  bytes_ += bytes;
}

void Room::Give(size_t bytes) {
  --requests_;
  bytes_ -= bytes;
}

}  // namespace cellar::host
