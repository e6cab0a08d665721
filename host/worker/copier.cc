#include "host/worker/copier.h"

#include <utility>

#include "host/wire/control.h"
#include "host/wire/frame_trace.h"

namespace cellar::host {

Copier::~Copier() { FailAll(absl::CancelledError("nobody waits for the copy any more")); }

void Copier::Ask(int channel, wire::Copy copy, const std::vector<int>& fds, Callback done) {
  copy.request = next_request_++;
  wire::TraceFrame(wire::FrameDirection::kToWorker, /*worker_pid=*/-1, wire::Copy::kType,
                   wire::Encode(copy));
  if (absl::Status sent = wire::SendFrame(channel, wire::MessageFrame(copy), fds); !sent.ok()) {
    return done(sent);
  }
  waiting_[copy.request] = std::move(done);
}

void Copier::OnCopied(wire::Copied copied) {
  auto asked = waiting_.extract(copied.request);
  if (asked.empty()) return;
  if (copied.held_up) return asked.mapped()(absl::DeadlineExceededError(copied.error));
  if (!copied.error.empty()) return asked.mapped()(absl::UnavailableError(copied.error));
  asked.mapped()(std::move(copied));
}

void Copier::FailAll(const absl::Status& status) {
  std::map<uint32_t, Callback> waiting;
  waiting.swap(waiting_);
  for (auto& [request, done] : waiting) done(status);
}

}  // namespace cellar::host
