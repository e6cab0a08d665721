// The way of an answer back to the cell that waits for it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

class ReplyDesk;

// Answers one call. A copy is as good as the original; any thread may call it, at any time: the
// first answer counts, and one that nobody waits for is dropped.
class BridgeReply {
 public:
  BridgeReply(std::shared_ptr<ReplyDesk> desk, uint64_t call)
      : desk_(std::move(desk)), call_(call) {}

  void operator()(BridgeAnswer answer) const;

 private:
  std::shared_ptr<ReplyDesk> desk_;
  uint64_t call_;
};

}  // namespace cellar::host
