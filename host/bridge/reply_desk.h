// Where replies of one worker's calls are handed in; outlived by them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "host/base/event_loop.h"
#include "host/bridge/reply.h"

namespace cellar::host {

class ReplyDesk {
 public:
  using Deliver = std::function<void(uint64_t call, BridgeAnswer answer)>;

  ReplyDesk(EventLoop& loop, Deliver deliver) : loop_(&loop), deliver_(std::move(deliver)) {}

  // Has the answer delivered by a task of the loop. Any thread.
  static void HandIn(const std::shared_ptr<ReplyDesk>& desk, uint64_t call, BridgeAnswer answer);
  // Nothing is delivered any more. On the loop's thread.
  void Close();

 private:
  absl::Mutex mutex_;
  EventLoop* loop_ ABSL_GUARDED_BY(mutex_);  // null when closed
  Deliver deliver_;                          // on the loop's thread
};

}  // namespace cellar::host
