#include "host/serve/client_watches.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/serve/frame.h"
#include "host/session/registry.h"

namespace cellar::host {
namespace {

constexpr size_t kMaxWatches = 16;

}  // namespace

ClientWatches::~ClientWatches() {
  lifeline_.Cut();
  for (const Watching& watching : watches_) {
    if (watching.opening != 0) place_.registry.Withdraw(watching.opening);
  }
}

bool ClientWatches::Has(const RequestId& id) const {
  return std::ranges::any_of(
      watches_, [&](const Watching& watching) { return watching.id == id && !watching.cancelled; });
}

void ClientWatches::Start(const RequestId& id, WatchRequest request) {
  if (watches_.size() >= kMaxWatches) {
    return send_(RefusedFrame(id, absl::DeadlineExceededError(absl::StrCat(  // Busy
                                      kMaxWatches, " watches are under way, as many as may be"))));
  }
  const Place watching =
      watches_.insert(watches_.end(), {.id = id, .session = std::move(request.session)});
  if (place_.registry.Find(watching->session) != nullptr) return StartNow(*watching);
  watching->opening = place_.registry.Acquire(
      {.id = watching->session, .opening = std::move(request.opening), .runs_cells = false},
      [this, alive = lifeline_.watch(), watching](absl::StatusOr<SessionHold> hold) {
        if (*alive) OnOpened(watching, std::move(hold));
      });
}

void ClientWatches::OnOpened(Place watching, absl::StatusOr<SessionHold> hold) {
  watching->opening = 0;
  if (watching->cancelled) {
    watches_.erase(watching);
    return;
  }
  absl::Status status = hold.status();
  if (status.ok()) status = hold->session().Prepare();
  if (status.ok()) return StartNow(*watching);
  const RequestId id = watching->id;
  watches_.erase(watching);
  send_(RefusedFrame(id, status));
}

void ClientWatches::StartNow(Watching& watching) {
  watching.watch =
      std::make_unique<SessionWatch>(place_, watching.id, watching.session, is_own_, send_);
  watching.watch->Start();
}

bool ClientWatches::Cancel(const RequestId& id) {
  const Place watching = std::ranges::find_if(
      watches_, [&](const Watching& each) { return each.id == id && !each.cancelled; });
  if (watching == watches_.end()) return false;
  if (watching->opening != 0) {
    watching->cancelled = true;
    place_.registry.Withdraw(watching->opening);
  } else {
    watches_.erase(watching);
  }
  send_(OkFrame(id));
  return true;
}

}  // namespace cellar::host
