// The way of an answer back to the cell that waits for it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "host/base/event_loop.h"

namespace cellar::host {

struct BridgeImage {
  std::string mime;
  std::string data;
};

struct BridgeAnswer {
  // JSON. Images stand where it has {"$image": index}; those it does not mention come after it, or
  // in its place when it is null.
  std::string value = "null";
  std::vector<BridgeImage> images;
  std::optional<std::string> error;  // the call has failed: raised in the cell, with this message
};

// Where replies of one worker's calls are handed in; outlived by them.
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

// Answers one call. A copy is as good as the original; any thread may call it, at any time: the
// first answer counts, and one that nobody waits for is dropped.
class BridgeReply {
 public:
  BridgeReply(std::shared_ptr<ReplyDesk> desk, uint64_t call)
      : desk_(std::move(desk)), call_(call) {}

  void operator()(BridgeAnswer answer) const { ReplyDesk::HandIn(desk_, call_, std::move(answer)); }

 private:
  std::shared_ptr<ReplyDesk> desk_;
  uint64_t call_;
};

}  // namespace cellar::host
