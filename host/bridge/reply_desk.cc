#include "host/bridge/reply_desk.h"

namespace cellar::host {

void ReplyDesk::HandIn(const std::shared_ptr<ReplyDesk>& desk, uint64_t call, BridgeAnswer answer) {
  absl::MutexLock lock(&desk->mutex_);
  if (desk->loop_ == nullptr) return;
  // Posted even on the loop's own thread: a provider may answer before Start() has returned.
  desk->loop_->Post([desk, call, answer = std::move(answer)]() mutable {
    if (desk->deliver_) desk->deliver_(call, std::move(answer));
  });
}

void ReplyDesk::Close() {
  absl::MutexLock lock(&mutex_);
  loop_ = nullptr;
  deliver_ = nullptr;
}

}  // namespace cellar::host
