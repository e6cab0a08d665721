// Asking a worker or a snapshot to fork a copy of itself, and waiting for its answer.
//
// Lives on the loop's thread.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "host/base/status.h"
#include "host/wire/copy_messages.h"

namespace cellar::host {

class Copier {
 public:
  // What was answered; a Status when there is no copy: DeadlineExceeded when it was held up.
  using Callback = absl::AnyInvocable<void(absl::StatusOr<wire::Copied>)>;

  ~Copier();
  // `channel` is borrowed; `fds` as many as wire::CopyFdCount() of the kind says.
  void Ask(int channel, wire::Copy copy, const std::vector<int>& fds, Callback done);
  void OnCopied(wire::Copied copied);
  // The request that was asked last.
  uint32_t last_request() const { return next_request_ - 1; }
  // Whoever was asked is gone.
  void FailAll(const absl::Status& status);

 private:
  uint32_t next_request_ = 1;
  std::map<uint32_t, Callback> waiting_;
};

}  // namespace cellar::host
