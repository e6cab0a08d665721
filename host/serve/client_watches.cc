#include "host/serve/client_watches.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "host/serve/frame.h"

namespace cellar::host {
namespace {

constexpr size_t kMaxWatches = 16;

}  // namespace

ClientWatches::~ClientWatches() { *alive_ = false; }

void ClientWatches::Start(const RequestId& id, WatchRequest request) {
  if (watches_.contains(id)) {
    return send_(
        RefusedFrame(id, absl::InvalidArgumentError("id: a watch of that id is under way")));
  }
  if (watches_.size() >= kMaxWatches) {
    return send_(RefusedFrame(id, absl::FailedPreconditionError(absl::StrCat(
                                      kMaxWatches, " watches are under way, as many as may be"))));
  }
  watches_[id] = nullptr;
  if (place_.registry.Find(request.session) != nullptr) return StartNow(id, request.session);
  const std::string session = request.session;
  place_.registry.Acquire({.id = session,
                           .opening_cwd = std::move(request.opening_cwd),
                           .opening_interpreter = std::move(request.opening_interpreter)},
                          [this, alive = alive_, id, session](absl::StatusOr<SessionHold> hold) {
                            if (*alive) OnOpened(id, session, std::move(hold));
                          });
}

void ClientWatches::OnOpened(const RequestId& id, const std::string& session,
                             absl::StatusOr<SessionHold> hold) {
  auto watch = watches_.find(id);
  if (watch == watches_.end() || watch->second != nullptr) return;  // cancelled meanwhile
  absl::Status status = hold.status();
  if (status.ok()) status = hold->session().Prepare();
  if (status.ok()) return StartNow(id, session);
  watches_.erase(watch);
  send_(RefusedFrame(id, status));
}

void ClientWatches::StartNow(const RequestId& id, const std::string& session) {
  std::unique_ptr<SessionWatch>& watch = watches_[id];
  watch = std::make_unique<SessionWatch>(place_, id, session, is_own_, send_);
  watch->Start();
}

bool ClientWatches::Cancel(const RequestId& id) {
  if (watches_.erase(id) == 0) return false;
  send_(OkFrame(id));
  return true;
}

}  // namespace cellar::host
