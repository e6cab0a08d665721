#include "host/serve/client_calls.h"

#include <algorithm>
#include <utility>

#include "host/serve/notebook_job.h"

namespace cellar::host {

ClientCalls::Running& ClientCalls::Add(const RequestId& id, std::unique_ptr<CallStream> stream,
                                       size_t bytes) {
  room_.Take(bytes);
  return calls_[id] = {.id = id, .stream = std::move(stream), .bytes = bytes};
}

std::unique_ptr<CallStream> ClientCalls::Remove(const RequestId& id) {
  auto found = calls_.extract(id);
  if (found.empty()) return nullptr;
  room_.Give(found.mapped().bytes);
  return std::move(found.mapped().stream);
}

bool ClientCalls::Cancel(const RequestId& id) {
  auto found = calls_.find(id);
  return found != calls_.end() && Cancel(found->second);
}

void ClientCalls::CancelAll() {
  for (const auto& [id, running] : calls_) Cancel(running);
}

bool ClientCalls::Cancel(const Running& running) {
  if (running.notebook == nullptr) return service_.Cancel(running.call);
  running.notebook->Cancel();
  return true;
}

void ClientCalls::GiveUp() {
  for (const auto& [id, running] : calls_) {
    room_.Give(running.bytes);
    if (running.notebook != nullptr) {
      running.notebook->Abandon();
    } else {
      service_.Abandon(running.call);
    }
  }
  calls_.clear();
}

bool ClientCalls::Has(const std::string& handle) const {
  const absl::StatusOr<CallId> named = CallOf(handle);
  return named.ok() && std::ranges::any_of(calls_, [&](const auto& each) {
           const Running& running = each.second;
           return *named ==
                  (running.notebook != nullptr ? running.notebook->visit() : running.call);
         });
}

const ClientCalls::Running* ClientCalls::CallerOf(uint64_t bridge_call) const {
  const CallId caller = service_.CallerOf(bridge_call);
  for (const auto& [id, running] : calls_) {
    const bool is_it = running.notebook != nullptr ? running.notebook->HasCall(bridge_call)
                                                   : running.call == caller;
    if (is_it) return &running;
  }
  return nullptr;
}

}  // namespace cellar::host
